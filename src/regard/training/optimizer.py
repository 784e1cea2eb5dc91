"""Optimizers by name, and the learning rate: its schedule over time, its decay by depth, gradual unfreezing.

In: a model and a configuration. Out: an optimizer, and what sets the learning rates of its parameter groups before each
update. Knows nothing of batches or losses.
"""

import math
from typing import Any

from torch import nn
from torch.optim import SGD, Adadelta, Adam, AdamW, Optimizer

from regard.models.transfer import layer_groups
from regard.tasks.config import TrainingConfig

OPTIMIZER_STATE: dict[type[Optimizer], frozenset[str]] = {
    Adam: frozenset(("step", "exp_avg", "exp_avg_sq")),  # and AdamW, which is one
    SGD: frozenset(("momentum_buffer",)),
    Adadelta: frozenset(("step", "square_avg", "acc_delta")),
}
"""What an optimizer keeps of a parameter from its first update on: tensors of its shape, and a number, ``step``."""


def build_optimizer(model: nn.Module, config: TrainingConfig) -> Optimizer:
    """Build the optimizer over a model's parameters: in groups from the head down where depth matters.

    Adadelta has the constants of Bahdanau et al. 2015 (B.2): ρ = 0.95, ε = 10⁻⁶. The others run as one fused
    kernel, except under float16, whose loss scaling needs the gradients in between.
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


class Unfreezing:
    """Learning rates by depth, and gradual unfreezing (Howard & Ruder 2018): the head learns first and fastest.

    With one parameter group, as `build_optimizer` makes where neither is configured, this is the plain learning rate.

    Args:
        optimizer: its groups from the head down; all but the first are frozen here if `unfreeze_every` is set.
        config: `depth_decay` and `unfreeze_every`.
        updates_per_epoch: for unfreezing, which counts in epochs.
    """

    def __init__(self, optimizer: Optimizer, config: TrainingConfig, updates_per_epoch: int) -> None:
        self._optimizer = optimizer
        self._decay = config.depth_decay
        self._every = config.unfreeze_every * updates_per_epoch
        self._unfrozen = len(optimizer.param_groups)
        if self._every:
            self._unfreeze_to(1)

    def set_learning_rates(self, learning_rate: float, updates: int) -> None:
        """Set each group's learning rate for the next update.

        Args:
            learning_rate: the head's.
            updates: the number of updates done.
        """
        groups = self._optimizer.param_groups
        if self._every:
            self._unfreeze_to(min(1 + int(updates / self._every), len(groups)))
        for depth, group in enumerate(groups):
            group["lr"] = learning_rate * self._decay**depth

    def _unfreeze_to(self, count: int) -> None:
        """Train the first `count` groups, and no others."""
        if count == self._unfrozen:
            return
        self._unfrozen = count
        for depth, group in enumerate(self._optimizer.param_groups):
            for parameter in group["params"]:
                parameter.requires_grad_(depth < count)


class Schedule:
    """The factor on the learning rate over time: a pure function of how far the run is.

    A run with a time limit follows the clock too, so that the learning rate is zero when the time is up. Only `plateau`
    depends on validations; `observe` passes their outcome on.

    Args:
        config: names the schedule and its constants.
        total: the run's last update, for schedules that end at zero; None if only a clock ends it.
        updates_per_epoch: for decay, which counts in epochs.

    Attributes:
        plateau: the factor that validations without an improvement have led to.
    """

    def __init__(self, config: TrainingConfig, total: int | None, updates_per_epoch: int = 1) -> None:
        self._config = config
        self._total = total
        self._updates_per_epoch = updates_per_epoch
        self._warmup = config.warmup if total is None else min(config.warmup, total // 10)
        self.plateau = 1.0

    def factor(self, update: int, time_used: float = 0.0) -> float:
        """The factor for an update.

        Args:
            update: its number, counted from 1.
            time_used: the share of the run's time limit that is over; 0 where there is none.
        """
        later = self._after_warmup(update, min(max(self._progress(update), time_used), 1.0))
        return min(self._rise(update, time_used), later)

    def warming(self, update: int, time_used: float) -> bool:
        """Whether the learning rate has not yet reached its full value after an update."""
        return self._rise(update, time_used) < 1

    def _rise(self, update: int, time_used: float) -> float:
        """How far the warm-up is; it takes at most a tenth of the run, by updates or by the clock."""
        if update >= self._warmup:
            return 1.0
        return max(update / self._warmup, 10 * time_used)

    def _after_warmup(self, update: int, progress: float) -> float:
        config = self._config
        match config.schedule:
            case "linear":
                return 1 - progress
            case "cosine":
                return (1 + math.cos(math.pi * progress)) / 2
            case "inverse-sqrt":
                return min(1.0, math.sqrt(max(self._warmup, 1) / update))
            case "decay":
                beyond = (update - 1) / self._updates_per_epoch - config.decay_from
                return 1.0 if beyond < 0 else config.decay_factor ** (1 + beyond // config.decay_every)
            case "plateau":
                return self.plateau
        return 1.0

    def _progress(self, update: int) -> float:
        """How much of the way from the warm-up's end to the last update is done, 0 to 1."""
        if self._total is None or update <= self._warmup:
            return 0.0
        return (update - 1 - self._warmup) / max(self._total - self._warmup, 1)

    def observe(self, improved: bool) -> None:
        """Take note of a validation: without an improvement, `plateau` lowers the learning rate."""
        if not improved:
            self.plateau *= self._config.plateau_decay
