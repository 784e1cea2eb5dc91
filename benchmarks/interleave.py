"""Interleaved runs: Regard before and after every other contender, so that a busy machine slows both alike.

In: functions that measure, by name. Out: `Trial`s in the order they ran, and from them each contender's speed relative
to the two runs of Regard next to it. On a machine that does other work too, only such ratios are worth comparing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, Protocol

from regard.errors import RegardError

REGARD = "regard"


class Result(Protocol):
    """The result of one run: `training.TrainingResult`, `search_cases.SearchTiming` or `quality.QualityResult`."""

    @property
    def tokens_per_second(self) -> float:
        """Target tokens per second."""

    @property
    def peak_bytes(self) -> int:
        """Peak memory of the process."""

    def to_json(self) -> dict[str, Any]:
        """All that was measured."""


Measure = Callable[[], Result]
Value = Callable[[Any], float]
"""Reads one number from a result; all results that are compared have one type."""


@dataclass(frozen=True)
class Trial:
    """One run of one contender.

    Attributes:
        name: of the contender.
        result: what was measured; None if the run failed.
        error: why it failed; empty otherwise.
    """

    name: str
    result: Result | None
    error: str = ""

    def to_json(self) -> dict[str, Any]:
        """The name with the result or the error."""
        if self.result is None:
            return {"name": self.name, "error": self.error}
        return {"name": self.name, **self.result.to_json()}


@dataclass(frozen=True)
class Spread:
    """Several measurements of one quantity: median, minimum and maximum."""

    median: float
    minimum: float
    maximum: float

    @classmethod
    def from_values(cls, values: Sequence[float]) -> "Spread":
        """Summarize at least one value."""
        return cls(median(values), min(values), max(values))

    def format(self, spec: str) -> str:
        """The median, with minimum and maximum in brackets where they differ; `spec` is a format such as ``,.0f``."""
        middle, low, high = (format(value, spec) for value in (self.median, self.minimum, self.maximum))
        return middle if low == high else f"{middle} ({low}–{high})"


def interleave(
    regard: Measure, others: Mapping[str, Measure], rounds: int, log: Callable[[str], None]
) -> list[Trial]:
    """Run Regard, a contender, Regard, the next contender, …, and Regard at the end.

    Args:
        regard: the reference; it must not fail.
        others: the contenders by name; one that fails is recorded and skipped.
        rounds: the number of runs of each contender.
        log: called with the name of each run before it starts.

    Raises:
        RegardError: the reference failed.
    """
    trials = [_try(REGARD, regard, log)]
    for _ in range(rounds):
        for name, measure in others.items():
            trials.append(_try(name, measure, log))
            trials.append(_try(REGARD, regard, log))
    for trial in trials:
        if trial.name == REGARD and trial.error:
            raise RegardError(f"{REGARD} itself failed: {trial.error}")
    return trials


def _try(name: str, measure: Measure, log: Callable[[str], None]) -> Trial:
    log(name)
    try:
        return Trial(name, measure())
    except RegardError as error:
        return Trial(name, None, str(error))


def _speed(result: Result) -> float:
    return result.tokens_per_second


def ratios(trials: Sequence[Trial], value: Value = _speed) -> dict[str, Spread]:
    """Each contender's speed divided by the mean of the two runs of Regard next to it; medians over rounds.

    Args:
        trials: in the order they ran.
        value: what is compared, by default the speed.
    """
    values: dict[str, list[float]] = {}
    for before, trial, after in zip(trials, trials[1:], trials[2:], strict=False):
        if trial.name == REGARD or trial.result is None or before.result is None or after.result is None:
            continue
        reference = fmean([value(before.result), value(after.result)])
        values.setdefault(trial.name, []).append(value(trial.result) / reference)
    return {name: Spread.from_values(ratio) for name, ratio in values.items()}


def summarize(trials: Sequence[Trial], value: Value) -> dict[str, Spread]:
    """One number of every run, summarized by contender."""
    values: dict[str, list[float]] = {}
    for trial in trials:
        if trial.result is not None:
            values.setdefault(trial.name, []).append(value(trial.result))
    return {name: Spread.from_values(numbers) for name, numbers in values.items()}


def speeds(trials: Sequence[Trial]) -> dict[str, Spread]:
    """Target tokens per second by contender."""
    return summarize(trials, _speed)


def losses(trials: Sequence[Trial]) -> dict[str, Spread]:
    """The loss at the end of training, nats per target token, by contender."""
    return summarize(trials, lambda result: float(result.final_loss))


def peaks(trials: Sequence[Trial]) -> dict[str, Spread]:
    """Peak memory in bytes by contender."""
    return summarize(trials, lambda result: float(result.peak_bytes))
