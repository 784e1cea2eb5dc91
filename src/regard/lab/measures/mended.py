"""How much of what a baseline gets wrong a network gets right.

In: two scores of at most 100. Out: per cent.
"""

import math


def mended(score: float, baseline: float) -> float:
    """Per cent of what the baseline misses of 100 that is not missed any more; below 0 where more is missed.

    Not a number where the baseline misses nothing, so that there is nothing to be mended.
    """
    return 100 * (score - baseline) / (100 - baseline) if baseline < 100 else math.nan
