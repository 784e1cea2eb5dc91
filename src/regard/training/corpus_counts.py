"""What preparing a corpus counts: examples kept and removed, lengths, unknown tokens, repeated examples.

In: examples as they are encoded, and numbers that stand for them. Out: `CorpusCounts`, which are added part by part and
become the report, and marks at repeated examples. Knows neither files nor tokenizers.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from regard.text.specials import UNK


@dataclass
class CorpusCounts:
    """What was found in a part of a corpus, or in all of it.

    Attributes:
        read: examples.
        kept: in the store.
        valid: split off.
        removed: by reason.
        first: the place of the first one removed for each reason.
        unknown: unknown tokens by column.
        lengths: by column, how often each number of tokens occurs.
        in_tests: by test file, the examples whose input is in it.
        repeated: examples that occurred before, source and target, whether they are kept or not.
    """

    read: int = 0
    kept: int = 0
    valid: int = 0
    removed: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)
    lengths: dict[str, Counter[int]] = field(default_factory=dict)
    in_tests: Counter[str] = field(default_factory=Counter)
    repeated: int = 0

    def add(self, other: "CorpusCounts") -> None:
        """Add those of the next part."""
        self.read, self.kept, self.valid = (
            self.read + other.read,
            self.kept + other.kept,
            self.valid + other.valid,
        )
        self.removed += other.removed
        self.first = other.first | self.first
        self.unknown += other.unknown
        for column, lengths in other.lengths.items():
            self.lengths.setdefault(column, Counter()).update(lengths)
        self.in_tests += other.in_tests

    def remove(self, reason: str, ids: Mapping[str, Sequence[int]]) -> None:
        """Take an example out that was counted as kept."""
        self.kept -= 1
        self.removed[reason] += 1
        for column, each in ids.items():
            self.lengths[column][len(each)] -= 1
            self.unknown[column] -= list(each).count(UNK)

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "CorpusCounts":
        """From plain values, in which numbers as keys are strings."""
        lengths = {
            column: Counter({int(length): count for length, count in each.items()})
            for column, each in value["lengths"].items()
        }
        counters = {name: Counter(value[name]) for name in ("removed", "unknown", "in_tests")}
        return cls(**{**value, **counters, "lengths": lengths})

    def list_removed(self) -> str:
        """The examples that were removed, by reason, in words."""
        return (
            ", ".join(
                f"{count:,} {reason.replace('_', ' ')}" for reason, count in sorted(self.removed.items())
            )
            or "none"
        )

    def report(self) -> dict[str, Any]:
        """For people and programs."""
        return {
            "read": self.read,
            "kept": self.kept,
            "validation": self.valid,
            "removed": {
                reason: {"examples": count, **({"first": self.first[reason]} if reason in self.first else {})}
                for reason, count in sorted(self.removed.items())
            },
            "repeated": self.repeated,
            "texts": {column: self._describe(column) for column in self.lengths},
        }

    def _describe(self, column: str) -> dict[str, Any]:
        lengths = +self.lengths[column]  # without those whose examples were all taken out
        total, tokens = lengths.total(), sum(length * count for length, count in lengths.items())
        return {
            "tokens": tokens,
            "unknown": round(self.unknown[column] / max(tokens, 1), 6),
            "mean_length": round(tokens / max(total, 1), 2),
            **{f"length_{share}": _quantile(lengths, share / 100) for share in (50, 99)},
            "longest": max(lengths, default=0),
        }


_BUCKET = 1 << 22  # numbers compared at a time


def mark_repeated(hashes: Sequence[npt.NDArray[np.uint64]]) -> list[npt.NDArray[np.bool_]]:
    """Mark the numbers that occurred before, in the same array or in an earlier one.

    Args:
        hashes: in memory or mapped; they are compared in buckets, so that only a part of them is in memory.
    """
    marks = [np.zeros(len(each), np.bool_) for each in hashes]
    num_buckets = 1 + sum(map(len, hashes)) // _BUCKET
    for bucket in range(num_buckets):
        places = [np.flatnonzero(each % np.uint64(num_buckets) == bucket) for each in hashes]
        values = np.concatenate([each[place] for each, place in zip(hashes, places, strict=True)])
        repeated = np.ones(len(values), np.bool_)
        repeated[np.unique(values, return_index=True)[1]] = False  # the first of each
        start = 0
        for mark, place in zip(marks, places, strict=True):
            mark[place] = repeated[start : start + len(place)]
            start += len(place)
    return marks


def _quantile(lengths: Counter[int], share: float) -> int:
    """The length that a share of the examples does not exceed."""
    wanted, seen = share * lengths.total(), 0
    for length, count in sorted(lengths.items()):
        seen += count
        if seen >= wanted:
            return length
    return 0
