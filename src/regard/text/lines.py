"""Lines as a language model reads them: ids, and the counts of words and characters that its scores are divided by.

In: lines and a tokenizer. Out: `EncodedLine`s in the same order, one per line, blank ones too. No special symbol but
`UNK` is among the ids: batches add the marks at a line's ends.

A corpus may have its own word for unknown words: Penn Treebank's files have ``<unk>`` for rare words. Text is text, so
a word tokenizer has it as a word beside the special symbol `UNK`; here the two are one, and a word that is not in the
vocabulary is read, predicted and counted as the corpus's own unknown word.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from unicodedata import normalize

from regard.text.formats import group_by_size
from regard.text.specials import SPECIALS, UNK
from regard.text.tokenizer import Tokenizer

MODES = ("sentences", "continuous")
"""How lines are read: each from a zero state, or as one text with the state carried over."""

_CHUNK = 4096


@dataclass(frozen=True, slots=True)
class EncodedLine:
    """A line and its ids.

    Attributes:
        text: the line itself.
        ids: without marks; none for a line of blanks.
        num_words: its words between blanks and the line's end; for a word tokenizer as many as `length`.
        num_characters: its code points and the line's end; blanks folded, unless they are tokens.
    """

    text: str
    ids: list[int]
    num_words: int
    num_characters: int

    @property
    def length(self) -> int:
        """The number of predictions, EOS counted."""
        return len(self.ids) + 1


def encode_lines(lines: Iterable[str], tokenizer: Tokenizer) -> Iterator[EncodedLine]:
    """Yield each line's ids, tokenising a few thousand lines at a time.

    Args:
        lines: read when they are needed.
        tokenizer: its kind says how words and characters are counted.
    """
    unknown = unknown_id(tokenizer)
    for chunk in group_by_size(lines, _CHUNK):
        for line, line_ids in zip(chunk, tokenizer.encode_batch(chunk), strict=True):
            ids = line_ids if line.strip() else []
            if unknown != UNK:
                ids = [unknown if i == UNK else i for i in ids]
            words = line.split()
            num_words = len(ids) if tokenizer.kind == "word" else len(words)
            folded = sum(map(len, words)) + max(len(words) - 1, 0)
            num_characters = len(ids) if tokenizer.kind == "char" else folded
            yield EncodedLine(line, ids, num_words + 1, num_characters + 1)


def unknown_id(tokenizer: Tokenizer) -> int:
    """The id of unknown words: of the corpus's own word for them if it has one, and else `UNK`."""
    if tokenizer.kind != "word":
        return UNK
    [own] = tokenizer.encode(SPECIALS[UNK])
    return own


def unknown_words(line: str, tokenizer: Tokenizer) -> list[str]:
    """The words of a line (characters for ``char``) that are not in the vocabulary, each once."""
    pieces = normalize("NFC", line) if tokenizer.kind == "char" else line.split()
    return [
        piece for piece in dict.fromkeys(pieces) if piece != SPECIALS[UNK] and UNK in tokenizer.encode(piece)
    ]
