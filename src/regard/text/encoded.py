"""Sentence pairs as ids: the last form of a pair that is not a tensor.

In: `SentencePair`s and two tokenizers. Out: `EncodedPair`s in the same order, one for each, however short or
long. No special is added: where sentences begin and end is written into batches.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from regard.text.corpus import Place, SentencePair
from regard.text.links import Links
from regard.text.tokenizer import Tokenizer

_CHUNK = 4096


@dataclass(frozen=True, slots=True)
class EncodedPair:
    """A pair's ids, with the place it was read at and the gold links between its tokens, where they are known."""

    source_ids: list[int]
    target_ids: list[int]
    place: Place | None = None
    links: Links | None = None

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
            links = None
            if pair.gold is not None:
                words = source_tokenizer.words(source_ids), target_tokenizer.words(target_ids)
                links = token_links(pair.gold.sure, *words)
            yield EncodedPair(source_ids, target_ids, pair.place, links)


def token_links(
    links: Links, source_words: Sequence[int | None], target_words: Sequence[int | None]
) -> Links:
    """Links between words → links between tokens: each token of a word is linked to each of the other's.

    Args:
        links: (source word, target word).
        source_words: the word each source token is part of, as `Tokenizer.words` tells it.
        target_words: likewise for the target.
    """
    return frozenset(
        (j, i)
        for j, source_word in enumerate(source_words)
        for i, target_word in enumerate(target_words)
        if (source_word, target_word) in links
    )
