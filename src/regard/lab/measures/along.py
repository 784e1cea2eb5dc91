"""Numbers of words, averaged along the sentence: at each place, or over each part of it.

In: for each sentence one number a word, in order. Out: means. Sentences of different lengths are compared place by
place from the start, or part by part, each part an equal share of its sentence.
"""

import math
from collections.abc import Sequence


def mean_by_place(rows: Sequence[Sequence[float]], places: int) -> list[float]:
    """The mean at each of the first places, over the sentences that reach so far; not a number where none does.

    Args:
        rows: one number a word, of each sentence.
        places: how many places from the start.
    """
    return [_mean([row[i] for row in rows if len(row) > i]) for i in range(places)]


def mean_by_part(rows: Sequence[Sequence[float]], parts: int) -> list[float]:
    """The mean over each part of the sentences, every word of it counting alike; not a number where there is none.

    Word i of T belongs to part ⌊i · parts / T⌋, so the parts of a sentence differ by one word at most.

    Args:
        rows: one number a word, of each sentence.
        parts: into how many each sentence is cut.
    """
    members: list[list[float]] = [[] for _ in range(parts)]
    for row in rows:
        for i, value in enumerate(row):
            members[i * parts // len(row)].append(value)
    return [_mean(each) for each in members]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan
