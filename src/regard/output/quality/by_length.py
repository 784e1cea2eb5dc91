"""Quality by the length of the source sentence, as Bahdanau's Figure 2 shows it.

In: lines. Out: bands of source length, ascending, each with its `Quality`. Lengths are counted in
blank-separated words.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any

from regard.errors import ConfigError
from regard.output.quality.corpus import Quality, check_parallel, measure

_LEAST_BANDS, _MOST_BANDS = 3, 10


@dataclass(frozen=True)
class LengthBand:
    """The sentences whose source has from `lower` to `upper` words, both included, and their scores."""

    lower: int
    upper: int
    num_sentences: int
    quality: Quality

    @property
    def name(self) -> str:
        """The lengths as a reader writes them: "6–10", or "7" for a single one."""
        return f"{self.lower}" if self.lower == self.upper else f"{self.lower}–{self.upper}"

    def to_json(self) -> dict[str, Any]:
        """Give the band as a JSON object."""
        return {"lower": self.lower, "upper": self.upper, **self.quality.to_json()}


def measure_by_length(
    sources: Sequence[str],
    hypotheses: Sequence[str],
    references: Sequence[str],
    edges: Sequence[int] | None = None,
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
    with_ter: bool = True,
) -> list[LengthBand]:
    """Score a corpus band by band; every sentence falls into exactly one.

    Args:
        sources: one line a sentence; only their lengths are looked at.
        hypotheses: the translations, in the same order.
        references: what they should be, in the same order.
        edges: the greatest length of each band, ascending; longer sentences make a last band. By default
            bands of equal width, 3 to 10 of them where the lengths are many enough.
        tokenize: as in `measure`.
        lowercase: as in `measure`.
        with_ter: as in `measure`.

    Returns:
        the bands that have sentences, shortest first.

    Raises:
        DataError: no lines, or not as many of each.
        ConfigError: edges that do not ascend from 1 or more.
    """
    check_parallel(sources=sources, hypotheses=hypotheses, references=references)
    lengths = [len(line.split()) for line in sources]
    bounds = _automatic_bounds(lengths) if edges is None else _checked(edges, max(lengths))
    members: dict[int, list[int]] = defaultdict(list)
    for sentence, length in enumerate(lengths):
        members[bisect_left(bounds, length)].append(sentence)
    bands = []
    for band, sentences in sorted(members.items()):
        quality = measure(
            [hypotheses[k] for k in sentences],
            [references[k] for k in sentences],
            tokenize=tokenize,
            lowercase=lowercase,
            with_ter=with_ter,
        )
        first = bounds[band - 1] + 1 if band else 1
        lower = min(first, min(lengths[k] for k in sentences))  # 0 where a source is blank
        bands.append(LengthBand(lower, bounds[band], len(sentences), quality))
    return bands


def _automatic_bounds(lengths: Sequence[int]) -> list[int]:
    """Upper ends of bands of equal width, the first in `_widths` that makes 3 to 10 with sentences."""
    for width in _widths():
        filled = len({max(length - 1, 0) // width for length in lengths})
        if filled <= _MOST_BANDS and (filled >= _LEAST_BANDS or width == 1):
            return list(range(width, max(*lengths, 1) + width, width))
    raise AssertionError("widths grow without end")


def _widths() -> Iterator[int]:
    yield from (5, 10, 2, 1)
    for tens in count(1):
        yield from (2 * 10**tens, 5 * 10**tens, 10 * 10**tens)


def _checked(edges: Sequence[int], longest: int) -> list[int]:
    if not edges or edges[0] < 1 or any(low >= high for low, high in pairwise(edges)):
        raise ConfigError(f"edges = {list(edges)} must ascend from 1 or more, as [5, 10, 20]")
    return list(edges) + ([longest] if longest > edges[-1] else [])
