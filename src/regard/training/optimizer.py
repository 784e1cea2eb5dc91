"""Rates by depth and gradual thawing (Howard & Ruder 2018): the head learns first and fastest, the bottom last.

In: an optimizer whose groups stand from the head down. Out: each group's rate, and which groups learn at all. With
one group, as `build_optimizer` makes where neither is asked for, this is the plain learning rate.

The optimizers by name.
"""

from typing import Any

from torch import nn
from torch.optim import SGD, Adadelta, Adam, AdamW, Optimizer

from regard.models.transfer import layer_groups
from regard.tasks.config import TrainingConfig


class Unfreezing:
    """Sets the rates of an optimizer's groups.

    Args:
        optimizer: its groups from the head down; all but the first are frozen here where thawing is asked for.
        config: `depth_decay` and `unfreeze_every`.
        updates_per_epoch: for thawing, which counts in epochs.
    """

    def __init__(self, optimizer: Optimizer, config: TrainingConfig, updates_per_epoch: int) -> None:
        self._optimizer = optimizer
        self._decay = config.depth_decay
        self._every = config.unfreeze_every * updates_per_epoch
        self._unfrozen = len(optimizer.param_groups)
        if self._every:
            self._unfreeze_to(1)

    def set_rates(self, learning_rate: float, updates: int) -> None:
        """Set each group's rate for the next update.

        Args:
            learning_rate: the head's.
            updates: how many are done.
        """
        groups = self._optimizer.param_groups
        if self._every:
            self._unfreeze_to(min(1 + int(updates / self._every), len(groups)))
        for depth, group in enumerate(groups):
            group["lr"] = learning_rate * self._decay**depth

    def _unfreeze_to(self, count: int) -> None:
        """Let the first `count` groups learn, and no others."""
        if count == self._unfrozen:
            return
        self._unfrozen = count
        for depth, group in enumerate(self._optimizer.param_groups):
            for parameter in group["params"]:
                parameter.requires_grad_(depth < count)


def build_optimizer(model: nn.Module, config: TrainingConfig) -> Optimizer:
    """The optimizer a config describes, over a model's parameters: in groups from the head down where depth matters.

    Adadelta has the constants of Bahdanau et al. 2015 (B.2): ρ = 0.95, ε = 10⁻⁶. The others run as one fused
    kernel, except under float16, whose loss scaling wants the gradients in between.
    """
    fused = config.precision != "16"
    parameters: list[Any] = list(model.parameters())
    if config.depth_decay != 1 or config.unfreeze_every:
        parameters = [{"params": group.parameters} for group in layer_groups(model)]
    match config.optimizer:
        case "adam":
            return Adam(parameters, lr=config.learning_rate, fused=fused)
        case "adamw":
            return AdamW(parameters, lr=config.learning_rate, weight_decay=config.weight_decay, fused=fused)
        case "sgd":
            return SGD(
                parameters,
                lr=config.learning_rate,
                momentum=config.momentum,
                weight_decay=config.weight_decay,
                fused=fused,
            )
        case "adadelta":
            return Adadelta(parameters, lr=config.learning_rate, rho=0.95, eps=1e-6)
    raise ValueError(f"no optimizer {config.optimizer!r}")
