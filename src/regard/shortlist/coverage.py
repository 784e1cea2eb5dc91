"""How much of given translations a shortlist lets through, and how short it is."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.shortlist.shortlist import Shortlist
from regard.text import EncodedPair


@dataclass(frozen=True)
class Coverage:
    """What a shortlist costs and what it saves.

    Attributes:
        tokens: the share of the references' tokens that are in their sentence's list.
        sentences: the share of references with all their tokens in it.
        mean_size: the mean number of words in a sentence's list.
        num_pairs: how many references there were.
    """

    tokens: float
    sentences: float
    mean_size: float
    num_pairs: int

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "covered_tokens": self.tokens,
            "covered_sentences": self.sentences,
            "mean_size": self.mean_size,
            "num_pairs": self.num_pairs,
        }


def covered(shortlist: Shortlist, pairs: Iterable[EncodedPair]) -> Coverage:
    """Look references up; pairs with a blank side are passed over."""
    tokens = found = sentences = whole = size = 0
    for pair in pairs:
        if not (pair.source_ids and pair.target_ids):
            continue
        words = shortlist.of(pair.source_ids)
        there = int(np.isin(pair.target_ids, words).sum())
        tokens, found = tokens + len(pair.target_ids), found + there
        sentences, whole = sentences + 1, whole + (there == len(pair.target_ids))
        size += len(words)
    count = max(sentences, 1)
    return Coverage(found / max(tokens, 1), whole / count, size / count, sentences)
