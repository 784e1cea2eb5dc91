"""Hard links from soft attention, of one direction or of two.

In: alpha over words (I + 1, J + 1), EOS (or the empty word) last in both directions, of a source→target model and, for
a symmetrised alignment, of a target→source model. Out: `Links`, pairs of (source word j, target word i) counted from
0, and `SoftLinks`, which have their probabilities. EOS is never part of a link. The growing heuristics are those of
Koehn, Och & Marcu (2003): start from the links of both directions, then add neighbours that only one of them has. By
probability, words are linked on which both directions agree enough (Liang, Taskar & Klein 2006). Knows nothing of
models.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.errors import ConfigError, DataError, nearest
from regard.evaluation.alignment.words import LabelledAlpha
from regard.text.links import GoldLinks, Link, Links, in_order

PROBABILITY = "probability"
"""The name of symmetrisation by the geometric mean of the probabilities of both directions."""
PROBABILITY_THRESHOLD = 0.3
"""The minimum geometric mean of both directions that links two words, unless another is given."""
MEAN = "mean"
"""The name of symmetrisation by the arithmetic mean."""
MEAN_THRESHOLD = 0.45
"""The minimum arithmetic mean of both directions that links two words, unless another is given."""


@dataclass(frozen=True, eq=False)
class SoftLinks:
    """The links of a sentence pair, and the weights that they were chosen by.

    Attributes:
        weights: (I, J) from 0 to 1: of target word i and source word j.
        links: the pairs (source j, target i) that are linked.
        unsure: those of the links that a file marks as only possible.
    """

    weights: NDArray[np.floating]
    links: Links
    unsure: Links = frozenset()

    @classmethod
    def of_file(
        cls, annotated: GoldLinks, num_source: int, num_target: int, threshold: float | None = None
    ) -> "SoftLinks":
        """Links as a file has them; those without a probability weigh 1.

        Args:
            annotated: the links of the pair.
            num_source: the words of its source, J.
            num_target: the words of its target, I.
            threshold: the minimum weight of a link; None for all of them.
        """
        weights = np.zeros((num_target, num_source))
        links = set()
        for j, i in annotated.possible:
            weight = annotated.probabilities.get((j, i), 1.0)
            if threshold is None or weight >= threshold:
                links.add((j, i))
            if i < num_target and j < num_source:  # a tokenizer may count fewer words than a line has
                weights[i, j] = weight
        return cls(weights, frozenset(links), frozenset(links - annotated.sure))

    @property
    def flipped(self) -> "SoftLinks":
        """The same of the other direction: (J, I), and links (target, source)."""
        return SoftLinks(self.weights.T, flip(self.links), flip(self.unsure))

    def annotated(self, *, digits: int | None = None) -> GoldLinks:
        """The links as a file has them.

        Args:
            digits: the decimals of their probabilities; None leaves these out.
        """
        probabilities = {}
        if digits is not None:
            probabilities = {(j, i): round(float(self.weights[i, j]), digits) for j, i in self.links}
        return GoldLinks(self.links - self.unsure, self.links, probabilities)


def argmax_links(alpha: NDArray[np.floating]) -> Links:
    """Link each target word to the source word it attends to most.

    A target word that attends more to EOS than to any word, or to nothing at all, has no link.
    Of equally strong source words the first is taken, and any word before EOS.

    Args:
        alpha: (I + 1, J + 1), EOS last in both directions.
    """
    num_source = alpha.shape[1] - 1
    strongest = alpha[:-1].argmax(axis=1)  # (I,)
    return frozenset((int(j), i) for i, j in enumerate(strongest) if j < num_source and alpha[i, j] > 0)


def threshold_links(alpha: NDArray[np.floating], threshold: float) -> Links:
    """Link all pairs of words whose weight is at least the threshold.

    Args:
        alpha: (I + 1, J + 1), EOS last in both directions.
        threshold: above 0, at most 1.

    Raises:
        ConfigError: a threshold outside that range.
    """
    return _at_least(alpha[:-1, :-1], threshold)


def _at_least(weights: NDArray[np.floating], threshold: float) -> Links:
    check_threshold(threshold)
    rows, columns = np.nonzero(weights >= threshold)
    return frozenset(zip(columns.tolist(), rows.tolist(), strict=True))


def check_threshold(threshold: float) -> None:
    """Check that an attention weight can reach a threshold.

    Raises:
        ConfigError: a threshold that is not above 0, or is above 1.
    """
    if not 0 < threshold <= 1:
        raise ConfigError(f"threshold = {threshold}: an attention weight is between 0 and 1; try 0.3")


def agreement(forward: NDArray[np.floating], backward: NDArray[np.floating]) -> NDArray[np.floating]:
    """The geometric mean of two directions, √(p(j∣i) p(i∣j)): large where both expect a link.

    Args:
        forward: (I, J), of the source→target direction.
        backward: (I, J), of the target→source direction.

    Raises:
        DataError: they differ in shape.
    """
    _check_shapes(forward, backward)
    geometric: NDArray[np.floating] = np.sqrt(forward * backward)
    return geometric


def mean(forward: NDArray[np.floating], backward: NDArray[np.floating]) -> NDArray[np.floating]:
    """The mean of two directions, (p(j∣i) + p(i∣j)) / 2: above 0.45 also where only one of them is sure of a link.

    So a word may have several links, of which the direction that gives it one can expect no more than that.

    Args:
        forward: (I, J), of the source→target direction.
        backward: (I, J), of the target→source direction.

    Raises:
        DataError: they differ in shape.
    """
    _check_shapes(forward, backward)
    return (forward + backward) / 2


def _check_shapes(forward: NDArray[np.floating], backward: NDArray[np.floating]) -> None:
    if forward.shape != backward.shape:
        raise DataError(
            f"{forward.shape} and {backward.shape} words in the two directions; give both as (target, source) of the "
            "same pair"
        )


# Beside, above, below first; then the diagonals. The order decides between competing neighbours.
_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def flip(links: Links) -> Links:
    """Turn (a, b) into (b, a): the links of a target→source model as (source, target)."""
    return frozenset((j, i) for i, j in links)


def intersection(forward: Links, backward: Links) -> Links:
    """The links of both directions: high precision, low recall."""
    return forward & backward


def union(forward: Links, backward: Links) -> Links:
    """The links of either direction: high recall, lower precision."""
    return forward | backward


def grow_diag(forward: Links, backward: Links) -> Links:
    """Grow the intersection through neighbours, diagonal ones too, that lie in the union.

    A neighbour is added when its source word or its target word has no link yet; the links added count at
    once. Passes go by target word and then by source word, until one adds nothing.
    """
    return frozenset(_grow(forward, backward).links)


def grow_diag_final(forward: Links, backward: Links) -> Links:
    """Add to `grow_diag` each direction's links of which one word *or* the other is still free."""
    grown = _grow(forward, backward)
    for link in (*in_order(forward), *in_order(backward)):
        if grown.source_free(link) or grown.target_free(link):
            grown.add(link)
    return frozenset(grown.links)


def grow_diag_final_and(forward: Links, backward: Links) -> Links:
    """Add to `grow_diag` each direction's links of which one word *and* the other are still free."""
    grown = _grow(forward, backward)
    for link in (*in_order(forward), *in_order(backward)):
        if grown.source_free(link) and grown.target_free(link):
            grown.add(link)
    return frozenset(grown.links)


SYMMETRIZERS: dict[str, Callable[[Links, Links], Links]] = {
    "intersection": intersection,
    "union": union,
    "grow-diag": grow_diag,
    "grow-diag-final": grow_diag_final,
    "grow-diag-final-and": grow_diag_final_and,
}


_MEANS = {PROBABILITY: PROBABILITY_THRESHOLD, MEAN: MEAN_THRESHOLD}

SYMMETRIZATIONS = (*SYMMETRIZERS, *_MEANS)
"""The names of all ways to make one alignment of two directions."""


@dataclass(frozen=True)
class LinkRule:
    """How links are read from attention.

    Attributes:
        threshold: the minimum weight of a link; None links each target word to the source word it attends to most. For
            symmetrisation by a mean of probabilities, the minimum of that mean; None is `PROBABILITY_THRESHOLD` or
            `MEAN_THRESHOLD`.
        symmetrize: how two directions become one, one of `SYMMETRIZATIONS`; None for one direction.

    Raises:
        ConfigError: a threshold out of range, or an unknown name.
    """

    threshold: float | None = None
    symmetrize: str | None = None

    def __post_init__(self) -> None:
        if self.threshold is not None:
            check_threshold(self.threshold)
        if self.symmetrize is not None and self.symmetrize not in SYMMETRIZATIONS:
            hint = nearest(self.symmetrize, SYMMETRIZATIONS)
            raise ConfigError(f"symmetrize = {self.symmetrize!r}: there is no such rule; {hint}")

    @property
    def direction_threshold(self) -> float | None:
        """The minimum weight of a link of one direction; None for the largest of each target word."""
        return None if self.symmetrize in _MEANS else self.threshold

    def links(self, forward: LabelledAlpha | None, backward: LabelledAlpha | None = None) -> Links:
        """Link the words of one pair, as (source, target).

        Args:
            forward: the attention of a source→target model between words; None, for a blank pair, gives no links.
            backward: the attention of a target→source model; used only for symmetrisation.
        """
        if self.symmetrize is None:
            return self.one_direction(forward).links
        return self.combine(self.one_direction(forward), self.one_direction(backward).flipped).links

    def one_direction(self, attention: LabelledAlpha | None) -> SoftLinks:
        """Link the words of one pair by one direction, as that direction counts: (what it reads, what it writes).

        Args:
            attention: between words; None for a blank pair.
        """
        if attention is None:
            return SoftLinks(np.zeros((0, 0)), frozenset())
        alpha, threshold = attention.alpha, self.direction_threshold
        links = argmax_links(alpha) if threshold is None else threshold_links(alpha, threshold)
        return SoftLinks(alpha[:-1, :-1], links)

    def combine(self, forward: SoftLinks, backward: SoftLinks) -> SoftLinks:
        """Make one alignment of two; its weights are the geometric means, see `agreement`, or those of ``mean``.

        Args:
            forward: of the source→target direction, (source, target).
            backward: of the target→source direction, flipped: (source, target), too.

        Raises:
            DataError: they are of pairs with other numbers of words.
        """
        assert self.symmetrize is not None, "a rule for two directions"
        average = mean if self.symmetrize == MEAN else agreement
        weights = average(forward.weights, backward.weights)
        if self.symmetrize in _MEANS:
            return SoftLinks(weights, _at_least(weights, self.threshold or _MEANS[self.symmetrize]))
        return SoftLinks(weights, SYMMETRIZERS[self.symmetrize](forward.links, backward.links))


class _Grown:
    """Links that grow, and the words that they take."""

    def __init__(self, links: Links) -> None:
        self.links = set(links)
        self._sources = {j for j, _ in links}
        self._targets = {i for _, i in links}

    def add(self, link: Link) -> None:
        self.links.add(link)
        self._sources.add(link[0])
        self._targets.add(link[1])

    def source_free(self, link: Link) -> bool:
        return link[0] not in self._sources

    def target_free(self, link: Link) -> bool:
        return link[1] not in self._targets


def _grow(forward: Links, backward: Links) -> _Grown:
    either = forward | backward
    ordered = in_order(either)
    grown = _Grown(forward & backward)
    size = -1
    while len(grown.links) != size:
        size = len(grown.links)
        for link in ordered:
            if link not in grown.links:
                continue
            for right, down in _NEIGHBOURS:
                near = (link[0] + right, link[1] + down)
                if near in either and (grown.source_free(near) or grown.target_free(near)):
                    grown.add(near)
    return grown
