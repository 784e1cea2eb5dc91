"""Which encoded pairs are fit to train on, and an account of those that are not.

In: `EncodedPair`s. Out: the fit ones in order, and a `FilterReport` that says how many were taken out, why,
and where the first of each kind stands. Lengths are counted in tokens, without specials.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from regard.errors import ConfigError, DataError
from regard.text.encoded import EncodedPair


@dataclass(frozen=True, slots=True)
class FilterReport:
    """How many pairs were kept, and how many taken out for each reason."""

    kept: int
    empty: int = 0
    too_long: int = 0
    odd_ratio: int = 0
    duplicates: int = 0
    first: Mapping[str, str] = field(default_factory=dict)
    """The place of the first pair taken out, by the name of its count; without those of unknown place."""

    @property
    def removed(self) -> int:
        """How many pairs were taken out."""
        return self.empty + self.too_long + self.odd_ratio + self.duplicates

    @property
    def total(self) -> int:
        """How many pairs were looked at."""
        return self.kept + self.removed

    def sentences(self) -> list[str]:
        """Return what was kept, then a line for each reason that took something out."""
        said = [f"kept {self.kept} of {_pairs(self.total)}"]
        for name, reason in _REASONS.items():
            count = getattr(self, name)
            if count:
                first = f" (first at {self.first[name]})" if name in self.first else ""
                said.append(f"took out {_pairs(count)} {reason}{first}")
        return said

    def __str__(self) -> str:
        return "; ".join(self.sentences())


_REASONS = {
    "empty": "with an empty side",
    "too_long": "with a side above the length limit",
    "odd_ratio": "with sides of too unequal length",
    "duplicates": "seen before",
}


@dataclass(frozen=True, slots=True)
class Filters:
    """What a pair must satisfy to be trained on; one with an empty side never does.

    Attributes:
        max_length: the most tokens a side may have.
        max_ratio: how many times longer one side may be than the other; None for any.
        drop_duplicates: whether a pair seen before, source and target alike, is taken out.
    """

    max_length: int = 100
    max_ratio: float | None = None
    drop_duplicates: bool = False

    def __post_init__(self) -> None:
        if self.max_length < 1:
            raise ConfigError(f"max_length is {self.max_length}; it must be 1 or more")
        if self.max_ratio is not None and not self.max_ratio >= 1:
            raise ConfigError(f"max_ratio is {self.max_ratio}; it must be 1 or more, or left out")

    def apply(self, pairs: Iterable[EncodedPair]) -> tuple[list[EncodedPair], FilterReport]:
        """Part the fit pairs from the others; each unfit pair counts once, under its first reason.

        Args:
            pairs: read once, in order.

        Returns:
            The fit pairs in their order, and the account.

        Raises:
            DataError: nothing is left.
        """
        kept: list[EncodedPair] = []
        counts = dict.fromkeys(_REASONS, 0)
        first: dict[str, str] = {}
        seen: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
        for pair in pairs:
            reason = self._fault(pair)
            if reason is None and self.drop_duplicates:
                key = (tuple(pair.source_ids), tuple(pair.target_ids))
                reason = "duplicates" if key in seen else None
                seen.add(key)
            if reason is None:
                kept.append(pair)
                continue
            counts[reason] += 1
            if pair.place is not None:
                first.setdefault(reason, str(pair.place))
        report = FilterReport(len(kept), **counts, first=first)
        if not kept:
            raise DataError(self._nothing_left(report))
        return kept, report

    def _fault(self, pair: EncodedPair) -> str | None:
        """Name the first thing wrong with a pair by itself."""
        shorter, longer = sorted((len(pair.source_ids), len(pair.target_ids)))
        if shorter == 0:
            return "empty"
        if longer > self.max_length:
            return "too_long"
        if self.max_ratio is not None and longer > self.max_ratio * shorter:
            return "odd_ratio"
        return None

    def _nothing_left(self, report: FilterReport) -> str:
        if report.total == 0:
            return "an empty corpus: no pair was read; name a file with one sentence pair on each line"
        remedies = [f"raise data.max_length (now {self.max_length})"] if report.too_long else []
        remedies += [f"raise data.max_ratio (now {self.max_ratio})"] if report.odd_ratio else []
        remedies += ["check that both sides hold text"] if report.empty else []
        return f"an empty corpus: {report}; {' or '.join(remedies)}"


def _pairs(count: int) -> str:
    return "1 pair" if count == 1 else f"{count} pairs"
