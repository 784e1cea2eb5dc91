"""Hard links from soft attention, of one direction or of two.

In: alpha over words (I + 1, J + 1), EOS last in both directions, of a source→target model and, for a
symmetrised alignment, of a target→source model. Out: `Links`, pairs of (source word j, target word i) counted from 0.
EOS is never part of a link. The growing heuristics are those of Koehn, Och & Marcu (2003): start from the
links of both directions, then add neighbours that only one of them has. Knows nothing of models.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.errors import ConfigError, nearest
from regard.evaluation.alignment.words import LabelledAlpha
from regard.text.links import Link, Links


def in_order(links: Links) -> list[Link]:
    """Sort links by target word and then by source word, the order in which they are written."""
    return sorted(links, key=lambda link: (link[1], link[0]))


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
    check_threshold(threshold)
    rows, columns = np.nonzero(alpha[:-1, :-1] >= threshold)
    return frozenset((int(j), int(i)) for i, j in zip(rows, columns, strict=True))


def check_threshold(threshold: float) -> None:
    """Check that an attention weight can reach a threshold.

    Raises:
        ConfigError: a threshold that is not above 0, or is above 1.
    """
    if not 0 < threshold <= 1:
        raise ConfigError(f"threshold = {threshold}: an attention weight is between 0 and 1; try 0.3")


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
    return frozenset(_grow(forward, backward))


def grow_diag_final(forward: Links, backward: Links) -> Links:
    """Add to `grow_diag` each direction's links of which one word *or* the other is still free."""
    grown = _grow(forward, backward)
    for link in (*in_order(forward), *in_order(backward)):
        if _source_free(link, grown) or _target_free(link, grown):
            grown.add(link)
    return frozenset(grown)


def grow_diag_final_and(forward: Links, backward: Links) -> Links:
    """Add to `grow_diag` each direction's links of which one word *and* the other are still free."""
    grown = _grow(forward, backward)
    for link in (*in_order(forward), *in_order(backward)):
        if _source_free(link, grown) and _target_free(link, grown):
            grown.add(link)
    return frozenset(grown)


SYMMETRIZERS: dict[str, Callable[[Links, Links], Links]] = {
    "intersection": intersection,
    "union": union,
    "grow-diag": grow_diag,
    "grow-diag-final": grow_diag_final,
    "grow-diag-final-and": grow_diag_final_and,
}


@dataclass(frozen=True)
class LinkRule:
    """How links are read from attention.

    Attributes:
        threshold: the least weight of a link; None links each target word to the source word it attends to most.
        symmetrize: how two directions become one, a key of `SYMMETRIZERS`; None for one direction.

    Raises:
        ConfigError: a threshold out of range, or an unknown name.
    """

    threshold: float | None = None
    symmetrize: str | None = None

    def __post_init__(self) -> None:
        if self.threshold is not None:
            check_threshold(self.threshold)
        if self.symmetrize is not None and self.symmetrize not in SYMMETRIZERS:
            hint = nearest(self.symmetrize, SYMMETRIZERS)
            raise ConfigError(f"symmetrize = {self.symmetrize!r}: there is no such rule; {hint}")

    def links(self, forward: LabelledAlpha | None, backward: LabelledAlpha | None = None) -> Links:
        """Link the words of one pair, as (source, target).

        Args:
            forward: the attention of a source→target model between words; None, for a blank pair, gives no links.
            backward: the attention of a target→source model; used only for symmetrisation.
        """
        links = self._one_direction(forward)
        if self.symmetrize is None:
            return links
        return SYMMETRIZERS[self.symmetrize](links, flip(self._one_direction(backward)))

    def _one_direction(self, attention: LabelledAlpha | None) -> Links:
        if attention is None:
            return frozenset()
        if self.threshold is None:
            return argmax_links(attention.alpha)
        return threshold_links(attention.alpha, self.threshold)


def _grow(forward: Links, backward: Links) -> set[Link]:
    either = forward | backward
    ordered = in_order(either)
    grown = set(forward & backward)
    size = -1
    while len(grown) != size:
        size = len(grown)
        for link in ordered:
            if link not in grown:
                continue
            for right, down in _NEIGHBOURS:
                near = (link[0] + right, link[1] + down)
                if near in either and (_source_free(near, grown) or _target_free(near, grown)):
                    grown.add(near)
    return grown


def _source_free(link: Link, taken: set[Link]) -> bool:
    return all(j != link[0] for j, _ in taken)


def _target_free(link: Link, taken: set[Link]) -> bool:
    return all(i != link[1] for _, i in taken)
