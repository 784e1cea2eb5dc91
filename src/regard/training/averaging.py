"""Averages of a run's weights: a moving one while it trains, and the mean of its best checkpoints at its end.

In: a model in training. Out: the same model with averaged weights, for a while or for good. Averaged weights are often
better than the last ones (Polyak & Juditsky 1992; Junczys-Dowmunt et al. 2016).
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

RAW = "raw/"
"""Before the names of the weights in training, where a checkpoint's own weights are averaged."""


def moving_decay(decay: float, update: int) -> float:
    """The decay at an update: min(d, (1 + t) / (10 + t)), so that the average soon forgets the first weights.

    Args:
        decay: d, of a long run.
        update: t, counted from 1.
    """
    return min(decay, (1 + update) / (10 + update))


class MovingAverage:
    """The exponential moving average w̄ ← d w̄ + (1 − d) w of a model's weights w.

    Args:
        model: in training, on its device; its present weights are the first average.
        decay: d; see `moving_decay`.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self._names = [name for name, _ in model.named_parameters()]
        self._weights: list[Tensor] = [parameter.detach() for parameter in model.parameters()]
        self._averages = [weight.clone() for weight in self._weights]
        self._decay = decay

    def observe(self, update: int) -> None:
        """Take the weights after an update into the average."""
        torch._foreach_lerp_(self._averages, self._weights, 1 - moving_decay(self._decay, update))

    @contextmanager
    def swapped(self) -> Iterator[None]:
        """Let the model have the averaged weights for a while."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def _swap(self) -> None:
        for weight, average in zip(self._weights, self._averages, strict=True):
            kept = weight.clone()
            weight.copy_(average)
            average.copy_(kept)

    def raw_tensors(self) -> dict[str, Tensor]:
        """The weights in training by name, for a checkpoint whose own weights are the averaged ones."""
        return {f"{RAW}{name}": weight for name, weight in zip(self._names, self._weights, strict=True)}


def restore_raw(model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Give a model the weights that `MovingAverage.raw_tensors` returned; without any it keeps its own."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if RAW + name in tensors:
                parameter.copy_(tensors[RAW + name])
