"""The least number of insertions, deletions and substitutions that turn one sequence into another.

In: two sequences of hashable items, strings or lists of words. Out: a whole number.
"""

from collections.abc import Hashable, Sequence


def edit_distance(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Levenshtein's distance, by Myers' bit vectors (J. ACM 46(3), 1999, in Hyyrö's form).

    A column of the table of distances goes up or down by at most 1 from cell to cell, so that it fits into
    two whole numbers with one bit a cell: where it rises, where it falls. Python's integers take any length,
    and a pair of sentences costs one pass over the second.

    Args:
        first: a sequence, such as a string or a list of words.
        second: another.
    """
    first, second = _without_shared_ends(first, second)
    if not first or not second:
        return len(first) + len(second)
    places: dict[Hashable, int] = {}  # for each item, a bit at each place of `first` where it stands
    for place, item in enumerate(first):
        places[item] = places.get(item, 0) | 1 << place
    column = (1 << len(first)) - 1
    bottom = 1 << (len(first) - 1)
    rises, falls, distance = column, 0, len(first)
    for item in second:
        match = places.get(item, 0)
        diagonal = (((match & rises) + rises) ^ rises) | match
        grows = falls | ~(diagonal | rises)  # where the row rises from the column before
        shrinks = rises & diagonal
        if grows & bottom:
            distance += 1
        elif shrinks & bottom:
            distance -= 1
        grows = grows << 1 | 1
        shrinks <<= 1
        free = match | falls
        rises = (shrinks | ~(free | grows)) & column
        falls = grows & free & column
    return distance


def _without_shared_ends(
    first: Sequence[Hashable], second: Sequence[Hashable]
) -> tuple[Sequence[Hashable], Sequence[Hashable]]:
    """Cut off what both begin with and what both end with: it costs nothing."""
    shorter = min(len(first), len(second))
    start = 0
    while start < shorter and first[start] == second[start]:
        start += 1
    end = 0
    while end < shorter - start and first[-1 - end] == second[-1 - end]:
        end += 1
    return first[start : len(first) - end], second[start : len(second) - end]
