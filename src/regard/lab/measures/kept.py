"""What a translator keeps of its BLEU where sentences grow longer than those it learnt from.

In: one model's scores by name: ``short`` (sentences as short as all learn from), ``beyond`` (longer ones than it learnt
from) and ``bands`` (by length, ascending). Out: a share, a length.
"""

from collections.abc import Mapping
from itertools import takewhile
from math import nan
from typing import Any


def kept(model: Mapping[str, Any]) -> float:
    """Percent of its BLEU on short sentences that a model keeps beyond the lengths it learnt from."""
    short = model["short"]["bleu"]
    return float(100 * model["beyond"]["bleu"] / short) if short else nan


def reach(model: Mapping[str, Any], least: float) -> int:
    """The most words up to which every band has at least so many percent of the BLEU on short sentences."""
    held = takewhile(lambda band: band["bleu"] >= least / 100 * model["short"]["bleu"], model["bands"])
    return max((band["upper"] for band in held), default=0)
