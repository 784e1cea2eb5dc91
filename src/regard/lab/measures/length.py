"""Numbers of words, averaged along the sentence: at each place, or over each part of it.

In: for each sentence one number a word, in order. Out: means. Sentences of different lengths are compared place by
place from the start, or part by part, each part an equal share of its sentence.

How good what a model wrote is, in the four numbers that experiments on translation show.

In: lines and their references, words separated by blanks. Out: numbers by name, as JSON has them.

What a translator keeps of its BLEU where sentences grow longer than those it learnt from.

In: one model's scores by name: ``short`` (sentences as short as all learn from), ``beyond`` (longer ones than it learnt
from) and ``bands`` (by length, ascending). Out: a share, a length.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import takewhile
from math import nan
from typing import Any

from regard.evaluation import measure


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


def score_written(written: Sequence[str], wanted: Sequence[str]) -> dict[str, float]:
    """BLEU, the percentage of lines that are word for word right, and how long the output is beside the references.

    Args:
        written: one line a sentence.
        wanted: the references, in the same order.

    Raises:
        DataError: no lines, or not as many of each.
    """
    quality = measure(written, wanted, tokenize="none", metrics=("bleu", "exact_match"))
    words, due = (sum(len(line.split()) for line in side) for side in (written, wanted))
    return {
        "sentences": len(wanted),
        "bleu": quality["bleu"],
        "exact_match": 100 * quality["exact_match"],
        "length_ratio": words / due if due else float("nan"),
    }


def kept(model: Mapping[str, Any]) -> float:
    """Percent of its BLEU on short sentences that a model keeps beyond the lengths it learnt from."""
    short = model["short"]["bleu"]
    return float(100 * model["beyond"]["bleu"] / short) if short else nan


def reach(model: Mapping[str, Any], least: float) -> int:
    """The most words up to which every band has at least so many percent of the BLEU on short sentences."""
    held = takewhile(lambda band: band["bleu"] >= least / 100 * model["short"]["bleu"], model["bands"])
    return max((band["upper"] for band in held), default=0)
