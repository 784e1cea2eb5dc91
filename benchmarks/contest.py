"""Runs taken in turn: ours before and after every other one, so that a machine's moods fall on both alike.

In: what to run, by name. Out: `Turn`s in the order they were run, and from them every speed as a share of the two
runs of ours beside it. Only such shares are worth comparing on a machine that does other things too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, Protocol

from regard.errors import RegardError

OURS = "regard"


class Seen(Protocol):
    """What a run came to: of a training, `training.Measured`; of a search, `searched.Searched`."""

    @property
    def tokens_per_second(self) -> float:
        """Of the target."""

    @property
    def peak_bytes(self) -> int:
        """The most memory the process held."""

    def to_json(self) -> dict[str, Any]:
        """All that was seen."""


Run = Callable[[], Seen]
Value = Callable[[Any], float]
"""A number of what was seen; runs that are compared are all of one kind."""


@dataclass(frozen=True)
class Turn:
    """One run.

    Attributes:
        name: whose.
        measured: what was seen; None where it failed.
        failed: why, in that case.
    """

    name: str
    measured: Seen | None
    failed: str = ""

    def to_json(self) -> dict[str, Any]:
        """All that was seen."""
        if self.measured is None:
            return {"name": self.name, "failed": self.failed}
        return {"name": self.name, **self.measured.to_json()}


@dataclass(frozen=True)
class Spread:
    """Several measurements of one thing: the one in the middle, the least and the greatest."""

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Of at least one value."""
        return cls(median(values), min(values), max(values))

    def written(self, form: str) -> str:
        """The middle, and the ends where they differ from it, each in a format such as ``,.0f``."""
        middle, low, high = (format(value, form) for value in (self.middle, self.low, self.high))
        return middle if low == high else f"{middle} ({low}–{high})"


def in_turn(ours: Run, others: Mapping[str, Run], rounds: int, tell: Callable[[str], None]) -> list[Turn]:
    """Run everything: ours, another, ours, the next, … and ours at the end.

    Args:
        ours: what the others are held against; it may not fail.
        others: by name; one that fails is told of and left.
        rounds: how often each of the others has its turn.
        tell: hears what is being run.

    Raises:
        RegardError: ours failed.
    """
    turns = [_taken(OURS, ours, tell)]
    for _ in range(rounds):
        for name, run in others.items():
            turns.append(_taken(name, run, tell))
            turns.append(_taken(OURS, ours, tell))
    for turn in turns:
        if turn.name == OURS and turn.failed:
            raise RegardError(f"{OURS} itself failed: {turn.failed}")
    return turns


def _taken(name: str, run: Run, tell: Callable[[str], None]) -> Turn:
    tell(name)
    try:
        return Turn(name, run())
    except RegardError as error:
        return Turn(name, None, str(error))


def _speed(seen: Seen) -> float:
    return seen.tokens_per_second


def shares(turns: Sequence[Turn], value: Value = _speed) -> dict[str, Spread]:
    """Each other's speed as a share of ours, the mean of the two runs beside it; medians over rounds.

    Args:
        turns: in the order they were taken.
        value: what is compared, if not the speed.
    """
    found: dict[str, list[float]] = {}
    for before, turn, after in zip(turns, turns[1:], turns[2:], strict=False):
        if turn.name == OURS or turn.measured is None or before.measured is None or after.measured is None:
            continue
        beside = fmean([value(before.measured), value(after.measured)])
        found.setdefault(turn.name, []).append(value(turn.measured) / beside)
    return {name: Spread.of(values) for name, values in found.items()}


def spreads(turns: Sequence[Turn], value: Value) -> dict[str, Spread]:
    """A number of every run, by name."""
    found: dict[str, list[float]] = {}
    for turn in turns:
        if turn.measured is not None:
            found.setdefault(turn.name, []).append(value(turn.measured))
    return {name: Spread.of(values) for name, values in found.items()}


def speeds(turns: Sequence[Turn]) -> dict[str, Spread]:
    """Target tokens a second, by name."""
    return spreads(turns, _speed)


def losses(turns: Sequence[Turn]) -> dict[str, Spread]:
    """The loss at the end of a training, nats a prediction, by name."""
    return spreads(turns, lambda seen: float(seen.final_loss))


def peaks(turns: Sequence[Turn]) -> dict[str, Spread]:
    """The peak of memory in bytes, by name."""
    return spreads(turns, lambda seen: float(seen.peak_bytes))
