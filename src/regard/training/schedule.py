"""The learning rate over time: a factor on the configured rate, a pure function of how far the run is.

A run that a clock will end falls with the clock, so that the rate is at zero when time is up. `plateau` alone depends
on what validation found; it is told through `observe`.
"""

import math

from regard.tasks.config import TrainingConfig


class Schedule:
    """The factor on the learning rate.

    Args:
        config: names the schedule and its constants.
        total: the run's last update, for those that end at zero; None if only a clock ends it.
        updates_per_epoch: for decay, which counts in epochs.
    """

    def __init__(self, config: TrainingConfig, total: int | None, updates_per_epoch: int = 1) -> None:
        self._config = config
        self._total = total
        self._updates_per_epoch = updates_per_epoch
        self._warmup = config.warmup if total is None else min(config.warmup, total // 10)
        self._plateau = 1.0

    def factor(self, update: int, time_used: float = 0.0) -> float:
        """The factor for an update.

        Args:
            update: which, counted from 1.
            time_used: the share of the run's time limit that is over; 0 where there is none.
        """
        later = self._after_warmup(update, min(max(self._progress(update), time_used), 1.0))
        return min(self._rise(update, time_used), later)

    def _rise(self, update: int, time_used: float) -> float:
        """How far the warm-up is; a tenth of the run is the most it takes, by updates or by the clock."""
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
                return self._plateau
        return 1.0

    def _progress(self, update: int) -> float:
        """How much of the way from the warm-up's end to the last update is behind, 0 to 1."""
        if self._total is None or update <= self._warmup:
            return 0.0
        return (update - 1 - self._warmup) / max(self._total - self._warmup, 1)

    def observe(self, improved: bool) -> None:
        """Tell the schedule whether the last validation was the best so far."""
        if not improved:
            self._plateau *= self._config.plateau_decay
