"""Rates by depth and gradual thawing (Howard & Ruder 2018): the head learns first and fastest, the bottom last.

In: an optimizer whose groups stand from the head down. Out: each group's rate, and which groups learn at all. With
one group, as `build_optimizer` makes where neither is asked for, this is the plain learning rate.
"""

from torch.optim import Optimizer

from regard.training.config import TrainingConfig


class Thaw:
    """Sets the rates of an optimizer's groups.

    Args:
        optimizer: its groups from the head down; all but the first are frozen here where thawing is asked for.
        config: `depth_decay` and `thaw_every`.
        updates_per_epoch: for thawing, which counts in epochs.
    """

    def __init__(self, optimizer: Optimizer, config: TrainingConfig, updates_per_epoch: int) -> None:
        self._optimizer = optimizer
        self._decay = config.depth_decay
        self._every = config.thaw_every * updates_per_epoch
        self._thawed = len(optimizer.param_groups)
        if self._every:
            self._thaw_to(1)

    def set_rates(self, rate: float, updates: int) -> None:
        """Set each group's rate for the next update.

        Args:
            rate: the head's.
            updates: how many are done.
        """
        groups = self._optimizer.param_groups
        if self._every:
            self._thaw_to(min(1 + int(updates / self._every), len(groups)))
        for depth, group in enumerate(groups):
            group["lr"] = rate * self._decay**depth

    def _thaw_to(self, count: int) -> None:
        """Let the first `count` groups learn, and no others."""
        if count == self._thawed:
            return
        self._thawed = count
        for depth, group in enumerate(self._optimizer.param_groups):
            for parameter in group["params"]:
                parameter.requires_grad_(depth < count)
