"""Alignments of the same sentence pairs scored side by side, and the worst pairs.

In: pair by pair, the `SoftLinks` of one or several alignments, such as two directions and their symmetrisation; gold
links, or the links of another aligner, or both. Out: an `AlignmentScore` of each against the gold links, or, without
any, against the other aligner; and the pairs to look at: the worst by errors × error rate, so that they are neither
the longest of all nor the shortest. Memory does not grow with the number of pairs.
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regard.errors import DataError
from regard.evaluation.alignment.error_rate import AlignmentScore, LinkCounts
from regard.evaluation.alignment.links import SoftLinks
from regard.text.links import GoldLinks, Links, format_gold, in_order


@dataclass(frozen=True, eq=False)
class ScoredPair:
    """A sentence pair to look at.

    Attributes:
        number: from 1.
        source: its words.
        target: its words.
        alignments: the alignment that is judged, and the one that it is compared with, by name.
        gold: its gold links, if there are any.
        num_errors: links that are wrong or missing; where two alignments are compared, those that only one of them has.
        error_rate: their share: the alignment error rate, or the errors divided by the links of both.
    """

    number: int
    source: Sequence[str]
    target: Sequence[str]
    alignments: Mapping[str, SoftLinks]
    gold: GoldLinks | None
    num_errors: int
    error_rate: float

    def only(self, name: str) -> Links:
        """The links of one of the alignments that the other does not have."""
        others = (each.links for key, each in self.alignments.items() if key != name)
        return self.alignments[name].links.difference(*others)

    def in_words(self, links: Links, most: int = 12) -> str:
        """Name some links by their words.

        Args:
            links: of this pair.
            most: how many are named.
        """
        named = [f"{self.source[j]} \N{EN DASH} {self.target[i]}" for j, i in in_order(links)[:most]]
        return " · ".join([*named, *([f"and {len(links) - most:,} more"] if len(links) > most else [])])

    def to_json(self) -> dict[str, Any]:
        """Everything except the weights; links are in Pharaoh format."""
        gold = {} if self.gold is None else {"gold": format_gold(self.gold)}
        return {
            "number": self.number,
            "source": " ".join(self.source),
            "target": " ".join(self.target),
            "num_errors": self.num_errors,
            "error_rate": self.error_rate,
            "links": {name: format_gold(each.annotated()) for name, each in self.alignments.items()},
            **gold,
        }


class AlignmentEvaluation:
    """Scores of several alignments, and the pairs where the last of them is worst; give the pairs to `add`.

    Args:
        num_shown: how many pairs to keep.

    Attributes:
        num_sentences: how many pairs were scored.
        num_differing: how many of them have errors, or, where two alignments are compared, differ.
    """

    def __init__(self, num_shown: int = 10) -> None:
        self.num_sentences = self.num_differing = 0
        self._num_shown = num_shown
        self._counts: dict[str, LinkCounts] = {}
        self._worst: list[tuple[float, int, ScoredPair]] = []

    def add(
        self,
        source: Sequence[str],
        target: Sequence[str],
        alignments: Mapping[str, SoftLinks],
        gold: GoldLinks | None = None,
        other: tuple[str, SoftLinks] | None = None,
    ) -> None:
        """Score the next pair.

        Args:
            source: its J words.
            target: its I words.
            alignments: each alignment by name; the last is the one that is judged.
            gold: its gold links.
            other: another aligner's name and alignment; scored too if there are gold links, or else the standard.

        Raises:
            DataError: there is nothing to score against.
        """
        self.num_sentences += 1
        name, judged = list(alignments.items())[-1]
        shown = {name: judged}
        if other is not None:
            shown[other[0]] = other[1]
        if gold is not None:
            standard, scored = gold, {**alignments, **shown}
        elif other is not None:
            standard, scored = GoldLinks(other[1].links), dict(alignments)
        else:
            raise DataError("an alignment is scored against gold links or another alignment; give one")
        for key, alignment in scored.items():
            self._counts.setdefault(key, LinkCounts()).add(alignment.links, standard)
        errors = LinkCounts()
        errors.add(judged.links, standard if other is None else GoldLinks(other[1].links))
        if errors.num_errors:
            self.num_differing += 1
            error_rate = errors.score().aer
            pair = ScoredPair(self.num_sentences, source, target, shown, gold, errors.num_errors, error_rate)
            heapq.heappush(self._worst, (error_rate * errors.num_errors, -self.num_sentences, pair))
            if len(self._worst) > self._num_shown:
                heapq.heappop(self._worst)

    @property
    def scores(self) -> dict[str, AlignmentScore]:
        """Of each alignment by name."""
        return {name: counts.score() for name, counts in self._counts.items()}

    @property
    def rows(self) -> dict[str, dict[str, float]]:
        """The scores by key for each alignment, for a table."""
        return {name: {**score.scores(), "num_links": score.num_links} for name, score in self.scores.items()}

    @property
    def worst(self) -> list[ScoredPair]:
        """The worst pairs, or those that differ most, first; of equal ones the earlier."""
        return [pair for _, _, pair in sorted(self._worst, reverse=True)]

    def to_json(self) -> dict[str, Any]:
        """The scores of each alignment, and the worst pairs."""
        return {
            "num_sentences": self.num_sentences,
            "num_differing": self.num_differing,
            "scores": self.rows,
            "worst": [pair.to_json() for pair in self.worst],
        }
