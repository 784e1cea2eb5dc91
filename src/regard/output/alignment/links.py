"""Hard links from soft attention.

In: alpha over words (I + 1, J + 1), the end mark last in both directions. Out: `Links`, pairs of (source
word j, target word i) counted from 0. The end mark is never part of a link.
"""

import numpy as np
from numpy.typing import NDArray

from regard.errors import ConfigError
from regard.text.links import Link, Links


def in_order(links: Links) -> list[Link]:
    """Sort links by target word and then by source word, the order in which they are written."""
    return sorted(links, key=lambda link: (link[1], link[0]))


def argmax_links(alpha: NDArray[np.floating]) -> Links:
    """Link each target word to the source word it attends to most.

    A target word that attends more to the end mark than to any word, or to nothing at all, has no link.
    Of equally strong source words the first is taken, and any word before the end mark.

    Args:
        alpha: (I + 1, J + 1), the end mark last in both directions.
    """
    num_source = alpha.shape[1] - 1
    strongest = alpha[:-1].argmax(axis=1)  # (I,)
    return frozenset((int(j), i) for i, j in enumerate(strongest) if j < num_source and alpha[i, j] > 0)


def threshold_links(alpha: NDArray[np.floating], threshold: float) -> Links:
    """Link all pairs of words whose weight is at least the threshold.

    Args:
        alpha: (I + 1, J + 1), the end mark last in both directions.
        threshold: above 0, at most 1.

    Raises:
        ConfigError: a threshold outside that range.
    """
    check_threshold(threshold)
    rows, columns = np.nonzero(alpha[:-1, :-1] >= threshold)
    return frozenset((int(j), int(i)) for i, j in zip(rows, columns, strict=True))


def check_threshold(threshold: float) -> None:
    """Check that a weight of attention can reach a threshold.

    Raises:
        ConfigError: a threshold that is not above 0, or is above 1.
    """
    if not 0 < threshold <= 1:
        raise ConfigError(f"threshold = {threshold}: a weight of attention lies between 0 and 1; try 0.3")
