"""How far a guess gets in recall.

In: how many pairs of a key and a value a line has. Out: how often the best guess without keys is right, in percent,
by exact counting.
"""

from fractions import Fraction
from math import comb

from regard.worlds.recall import VALUES


def guess(pairs: int, values: int = len(VALUES)) -> float:
    """How often, in percent, the commonest value of a line is right: 100 · E[max count] / pairs.

    Who has kept all values of a line, but not which key each belonged to, can do no better at the first question.

    Args:
        pairs: in the line, at least one; each of them is as likely to be asked for.
        values: how many there are, each as likely in every pair.
    """
    lines = values**pairs
    # E[max] = Σ_{m ≥ 0} P(max > m)
    expected = sum(Fraction(lines - _with_at_most(m, pairs, values), lines) for m in range(pairs))
    return float(100 * expected / pairs)


def _with_at_most(most: int, pairs: int, values: int) -> int:
    """How many of all lines have no value more often than so: value after value takes its places among those left."""
    lines = [1] + [0] * pairs  # by how many places are taken
    for _ in range(values):
        lines = [
            sum(lines[taken - k] * comb(pairs - taken + k, k) for k in range(min(most, taken) + 1))
            for taken in range(pairs + 1)
        ]
    return lines[pairs]
