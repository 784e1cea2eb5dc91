"""Sentence pairs as words: an id and affixes for each word, and nothing else.

In: `SentencePair`s and two tokenizers of words. Out: `EncodedWordPair`s. The affixes of a word are what an unknown one
still has in common with known ones: its first four letters, its first six, its last three. Their ids are hashes, so
there is no table of affixes; both sides hash alike, so a name or a number has the same affixes in both.
"""

import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from regard.text.pairs import SentencePair
from regard.text.tagged import encode_words
from regard.text.tokenizer import Tokenizer

NUM_AFFIXES = 3
"""The affixes of a word."""


@dataclass(frozen=True, slots=True)
class EncodedWordPair:
    """The words of a sentence pair, in lower case, and their ids.

    Attributes:
        source_words: as many as `source_ids`.
        target_words: as many as `target_ids`.
        source_ids: without special symbols.
        target_ids: without special symbols.
    """

    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    source_ids: list[int]
    target_ids: list[int]

    @property
    def length(self) -> int:
        """Of the longer side, in words."""
        return max(len(self.source_ids), len(self.target_ids))


def encode_word_pairs(
    pairs: Iterable[SentencePair], source_tokenizer: Tokenizer, target_tokenizer: Tokenizer
) -> Iterator[EncodedWordPair]:
    """Encode pairs, words separated by blanks.

    Args:
        pairs: read or given.
        source_tokenizer: of the kind ``word``.
        target_tokenizer: of the kind ``word``.
    """
    for pair in pairs:
        source, target = pair.source.split(), pair.target.split()
        source_ids = encode_words(source, source_tokenizer)
        target_ids = encode_words(target, target_tokenizer)
        yield EncodedWordPair(_lowered(source), _lowered(target), source_ids, target_ids)


def _lowered(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(sys.intern(word.lower()) for word in words)  # a word that occurs often is in memory once


@lru_cache(maxsize=1 << 18)
def affix_ids(word: str, num_ids: int) -> tuple[int, int, int]:
    """The ids of a word's affixes, from 0 to `num_ids` − 1.

    Args:
        word: in lower case.
        num_ids: of all affixes; some share one.
    """
    first, longer, last = (
        zlib.crc32(f"{kind}{part}".encode("utf-8", "surrogatepass")) % num_ids
        for kind, part in (("<", word[:4]), ("<<", word[:6]), (">", word[-3:]))
    )
    return first, longer, last
