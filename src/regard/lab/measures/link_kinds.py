"""The kinds of link between two sentences, judged by gold links alone, and how many of each kind a model finds.

In: `GoldLinks`, predicted `Links` or attention over words. Out: target words by kind, shares of them, and the links of
an aligner that knows nothing. Order and one-to-many are judged by sure links; many-to-one by all gold links, since
the helpers of a word ("will" where "will wash" is "lavera") are linked as possible ones.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.text import GoldLinks, Links

KINDS = ("in order", "crossing", "many-to-one", "one-to-many", "no sure link")
"""What a target word can be. Of the first two and the last it is one; it can be of the others beside."""


@dataclass(frozen=True)
class Share:
    """How many out of how many.

    Attributes:
        found: so many.
        words: of so many.
    """

    found: int
    words: int

    @property
    def percent(self) -> float:
        """Found of a hundred; no number where there are no words."""
        return 100 * self.found / self.words if self.words else float("nan")


def words_by_kind(gold: GoldLinks) -> dict[str, frozenset[int]]:
    """The target words of each of `KINDS`; words that no gold link touches are of none.

    A word is *crossing* where a sure link of its crosses another sure link: (j − j′)(i − i′) < 0; *in order* where it
    has sure links and none does; *many-to-one* where several source words are linked to it; *one-to-many* where a
    source word surely linked to it is surely linked to others too.
    """
    linked = Counter(i for _, i in gold.possible)
    fertile = Counter(j for j, _ in gold.sure)
    sure = frozenset(i for _, i in gold.sure)
    crossing = frozenset(i for j, i in gold.sure if any((j - k) * (i - h) < 0 for k, h in gold.sure))
    return {
        "in order": sure - crossing,
        "crossing": crossing,
        "many-to-one": frozenset(i for i, count in linked.items() if count > 1),
        "one-to-many": frozenset(i for j, i in gold.sure if fertile[j] > 1),
        "no sure link": frozenset(linked) - sure,
    }


def sources_without(gold: GoldLinks, num_sources: int) -> frozenset[int]:
    """The source words that no gold link touches: those without counterpart."""
    return frozenset(range(num_sources)) - {j for j, _ in gold.possible}


def diagonal_links(num_sources: int, num_targets: int) -> Links:
    """The links of an aligner that knows lengths and nothing else: i to the nearest j on the line from end to end."""
    slope = (num_sources - 1) / max(num_targets - 1, 1)
    return frozenset((round(i * slope), i) for i in range(num_targets))


def shares_found(predicted: Sequence[Links], gold: Sequence[GoldLinks]) -> dict[str, Share]:
    """Of the target words of each kind, how many have a predicted link that is a gold link."""
    found: Counter[str] = Counter()
    words: Counter[str] = Counter()
    for links, annotated in zip(predicted, gold, strict=True):
        right = {i for _, i in links & annotated.possible}
        for kind, members in words_by_kind(annotated).items():
            words[kind] += len(members)
            found[kind] += len(members & right)
    return {kind: Share(found[kind], words[kind]) for kind in KINDS}


def weight_on_gold(
    alphas: Iterable[NDArray[np.floating]], gold: Iterable[GoldLinks], kind: str = ""
) -> float:
    """The mean, over target words with a gold link, of the attention that lies on gold links.

    Args:
        alphas: (I + 1, J + 1) of each pair, the end mark last in both directions.
        gold: of each pair.
        kind: one of `KINDS`, if only words of that kind count.
    """
    total, words = 0.0, 0
    for alpha, annotated in zip(alphas, gold, strict=True):
        counted = words_by_kind(annotated)[kind] if kind else {i for _, i in annotated.possible}
        total += sum(float(alpha[i, j]) for j, i in annotated.possible if i in counted)
        words += len(counted)
    return total / words if words else float("nan")
