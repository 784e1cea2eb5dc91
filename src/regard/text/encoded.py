"""Sentence pairs as ids: the last form of a pair that is not a tensor.

In: `SentencePair`s and two tokenizers. Out: `EncodedPair`s in the same order, one for each, however short or
long. No special is added: where sentences begin and end is written into batches.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from regard.text.corpus import Place, SentencePair
from regard.text.tokenizer import Tokenizer

_CHUNK = 4096


@dataclass(frozen=True, slots=True)
class EncodedPair:
    """A pair's ids, with the place it was read at, if any."""

    source_ids: list[int]
    target_ids: list[int]
    place: Place | None = None

    @property
    def length(self) -> int:
        """The tokens of the longer side, its end mark counted."""
        return max(len(self.source_ids), len(self.target_ids)) + 1


def encode_pairs(
    pairs: Iterable[SentencePair], source_tokenizer: Tokenizer, target_tokenizer: Tokenizer
) -> Iterator[EncodedPair]:
    """Yield each pair's ids, tokenising a few thousand pairs at a time.

    Args:
        pairs: what to encode; read as it is needed.
        source_tokenizer: for the source sides.
        target_tokenizer: for the target sides.
    """
    waiting = iter(pairs)
    while chunk := list(islice(waiting, _CHUNK)):
        sources = source_tokenizer.encode_batch([pair.source for pair in chunk])
        targets = target_tokenizer.encode_batch([pair.target for pair in chunk])
        for pair, source_ids, target_ids in zip(chunk, sources, targets, strict=True):
            yield EncodedPair(source_ids, target_ids, pair.place)
