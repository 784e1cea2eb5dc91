"""How many labels one way of learning saves against another.

In: accuracies against numbers of labelled examples. Out: how many examples an accuracy takes, read off the curve
between its points, numbers of examples taken by their logarithm.
"""

import math
from collections.abc import Sequence

from regard.lab.measures.statistics import crossing


def labels_needed(counts: Sequence[float], accuracies: Sequence[float], wanted: float) -> float:
    """Where a curve first reaches an accuracy.

    Args:
        counts: numbers of labelled examples, ascending.
        accuracies: one each.
        wanted: the accuracy.

    Returns:
        The number of labelled examples, interpolated; the first count where that is enough already; infinity where
        the curve never gets there.
    """
    if accuracies[0] >= wanted:
        return float(counts[0])
    found = crossing([math.log(count) for count in counts], accuracies, wanted)
    return math.inf if math.isnan(found) else math.exp(found)
