"""Scores of translations as a whole, and of their words by position in the sentence.

In: output lines and references, words separated by blanks, or one number per word. Out: plain numbers. Sentences of
different lengths are compared position by position from the start, or part by part, each part an equal share of its
sentence.
"""

import math
from collections.abc import Sequence

from regard.evaluation import measure_quality


def mean_by_position(rows: Sequence[Sequence[float]], positions: int) -> list[float]:
    """The mean at each of the first positions, over the sentences that are long enough; nan if none is.

    Args:
        rows: one number per word, for each sentence.
        positions: how many, from the start.
    """
    return [_mean([row[i] for row in rows if len(row) > i]) for i in range(positions)]


def mean_by_part(rows: Sequence[Sequence[float]], parts: int) -> list[float]:
    """The mean over each part of the sentences, every word with the same weight; nan if there is no word.

    Word i of T belongs to part ⌊i · parts / T⌋, so the parts of a sentence differ by one word at most.

    Args:
        rows: one number per word, for each sentence.
        parts: into how many each sentence is cut.
    """
    members: list[list[float]] = [[] for _ in range(parts)]
    for row in rows:
        for i, value in enumerate(row):
            members[i * parts // len(row)].append(value)
    return [_mean(values) for values in members]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def score_translations(outputs: Sequence[str], references: Sequence[str]) -> dict[str, float]:
    """BLEU, exact match in percent, and the length of the output over that of the references.

    Raises:
        DataError: no lines, or not as many of each.
    """
    quality = measure_quality(outputs, references, tokenize="none", metrics=("bleu", "exact_match"))
    num_words, num_reference_words = (
        sum(len(line.split()) for line in lines) for lines in (outputs, references)
    )
    return {
        "sentences": len(references),
        "bleu": quality["bleu"],
        "exact_match": 100 * quality["exact_match"],
        "length_ratio": num_words / num_reference_words if num_reference_words else math.nan,
    }
