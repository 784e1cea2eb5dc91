"""What reading first is worth to a classifier, from the accuracies of both starts.

In: the numbers of the experiment on pre-training. Out: its two curves, and the gap between them seed by seed.
"""

from collections.abc import Mapping
from typing import Any

BEFORE, AFTER = "before reading", "after reading"
"""What a classifier begins as: the language model, before it has read or after."""


def means(numbers: Mapping[str, Any], start: str) -> list[float]:
    """Accuracy at each size, mean over the seeds."""
    return [each["mean"] for each in numbers["accuracy"][start]]


def gains(numbers: Mapping[str, Any]) -> list[list[float]]:
    """Of each size and each seed: how many points reading first gained on the same labelled reviews."""
    pairs = zip(numbers["accuracy"][BEFORE], numbers["accuracy"][AFTER], strict=True)
    return [[b - a for a, b in zip(one["values"], other["values"], strict=True)] for one, other in pairs]
