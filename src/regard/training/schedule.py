"""The learning rate over time: a factor on the configured rate, a pure function of the update.

`plateau` alone depends on what validation found; it is told through `observe`.
"""

import math

from regard.training.config import TrainingConfig


class Schedule:
    """The factor on the learning rate.

    Args:
        config: names the schedule and its constants.
        total: the run's last update, for those that end at zero; None if unknown.
    """

    def __init__(self, config: TrainingConfig, total: int | None) -> None:
        self._config = config
        self._total = total
        self._plateau = 1.0

    def factor(self, update: int) -> float:
        """The factor for the given update, the first of which is 1."""
        warmup = self._config.warmup
        if update < warmup:
            return update / warmup
        return self._after_warmup(update)

    def _after_warmup(self, update: int) -> float:
        config = self._config
        match config.schedule:
            case "linear":
                return 1 - self._progress(update)
            case "cosine":
                return (1 + math.cos(math.pi * self._progress(update))) / 2
            case "inverse-sqrt":
                return math.sqrt(max(config.warmup, 1) / update)
            case "halving":
                if update < config.halve_from:
                    return 1.0
                return 0.5 ** (1 + (update - config.halve_from) // config.halve_every)
            case "plateau":
                return self._plateau
        return 1.0

    def _progress(self, update: int) -> float:
        """How much of the way from the warm-up's end to the last update is behind, 0 to 1."""
        assert self._total is not None, "the configuration refuses such a schedule without an end"
        way = max(self._total - self._config.warmup, 1)
        return min((update - 1 - self._config.warmup) / way, 1.0) if update > self._config.warmup else 0.0

    def observe(self, improved: bool) -> None:
        """Tell the schedule whether the last validation was the best so far."""
        if not improved:
            self._plateau *= self._config.plateau_decay
