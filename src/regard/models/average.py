"""One model out of several of one shape: every parameter the mean of theirs.

In: models, one at a time, so that no more than two are ever held. Out: the first with the means in it. The sums are
float64: the mean of one model n times over is that model, bit for bit.
"""

from collections.abc import Iterable
from typing import TypeVar

import torch
from torch import Tensor, nn

from regard.errors import ConfigError

M = TypeVar("M", bound=nn.Module)


def average(models: Iterable[M]) -> M:
    """Average parameters, and with them what is measured and not learnt.

    Args:
        models: at least one; the first is changed in place and returned.

    Raises:
        ConfigError: there are none, or a parameter of one has another name or shape than in the first.
    """
    sums: dict[str, Tensor] = {}
    first: M | None = None
    count = 0
    for model in models:
        count += 1
        own = _numbers(model)
        if first is None:
            first = model
            sums = {name: value.double().clone() for name, value in own.items()}
            continue
        shapes, others = ({name: tuple(value.shape) for name, value in each.items()} for each in (sums, own))
        if shapes != others:
            name = next(name for name in {**shapes, **others} if shapes.get(name) != others.get(name))
            raise ConfigError(
                f"{name}: {shapes.get(name, 'missing')} in the first model and {others.get(name, 'missing')} in "
                f"number {count}; only models of one architecture have a mean"
            )
        for name, value in own.items():
            sums[name] += value.double()
    if first is None:
        raise ConfigError("no models to average; name at least one")
    with torch.no_grad():
        for name, value in _numbers(first).items():
            value.copy_(sums[name] / count)
    return first


def _numbers(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by name, a shared one under its first name only; their memory is the model's own."""
    both = {**dict(model.named_parameters(remove_duplicate=True)), **dict(model.named_buffers())}
    return {name: value.detach() for name, value in both.items()}
