"""From attention over tokens to attention over words.

In: alpha (Ty, Tx) over tokens, the end mark last on both sides, and the word each token belongs to. Out:
alpha (I + 1, J + 1) over I target and J source words, the end mark still last. Knows nothing of tokenizers:
which token belongs to which word is told.

The words of one text, and which tokens make them.

In: a line, its tokens and the word each belongs to. Out: `Units`, what stands for itself when the text is
shown: its words, and the marks of its beginning and end where there are any. Unlike `merge`, which asks for an
end mark on either side of a translation, it takes a text with both marks, one or none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError

Words = Sequence[int | None]


@dataclass(frozen=True, eq=False)
class LabelledAlpha:
    """Attention between words or tokens, with what to write beside its rows and columns.

    Attributes:
        alpha: (I + 1, J + 1), the end mark last in both directions.
        source_labels: J + 1 of them, the end mark last.
        target_labels: I + 1 of them, the end mark last.
    """

    alpha: NDArray[np.float64]
    source_labels: tuple[str, ...]
    target_labels: tuple[str, ...]


def merge_alpha(alpha: NDArray[np.floating], source_words: Words, target_words: Words) -> NDArray[np.float64]:
    """Merge the tokens of each word: the sum over a source word, the mean over a target word.

    A word is attended to as much as its pieces together, hence the sum; the pieces of a target word each
    bring a distribution of their own, hence the mean. Source tokens of no word (the blanks of a character
    model) lose their part, and nothing is scaled up to make good for it: a row sums to 1 less what fell on
    blanks, so that the weights stay those the decoder used. Target tokens of no word give no row. A word
    without tokens gives zeros.

    Args:
        alpha: (Ty, Tx), the end mark last in both directions.
        source_words: Tx word numbers counted from 0; None for the end mark and for blanks.
        target_words: Ty word numbers, likewise.

    Returns:
        (I + 1, J + 1), the end mark last in both directions.

    Raises:
        DataError: the lengths disagree, or a side does not close with the end mark.
    """
    if alpha.shape != (len(target_words), len(source_words)):
        raise DataError(
            f"alpha has shape {alpha.shape}, but there are {len(target_words)} target and "
            f"{len(source_words)} source tokens; give one row a target token and one column a source token"
        )
    target = membership(target_words, "target")  # (Ty, I + 1)
    source = membership(source_words, "source")  # (Tx, J + 1)
    num_pieces = np.maximum(target.sum(axis=0), 1.0)  # (I + 1,)
    merged: NDArray[np.float64] = (
        (target / num_pieces).T @ alpha.astype(np.float64) @ source
    )  # (I + 1, J + 1)
    return merged


def membership(words: Words, side: str) -> NDArray[np.float64]:
    """Say as a matrix (T, words + 1) of zeros and ones which token belongs to which word.

    Args:
        words: the word number of each token, None where there is none; the last is the end mark.
        side: "source" or "target", for the error message.

    Raises:
        DataError: the last token belongs to a word and so is no end mark.
    """
    if not words or words[-1] is not None:
        last = words[-1] if words else "missing"
        raise DataError(
            f"the {side} must close with the end mark, of no word; its last word number is {last}"
        )
    num_words = count_words(words)
    matrix = np.zeros((len(words), num_words + 1))
    for token, word in enumerate(words):
        if word is not None:
            matrix[token, word] = 1.0
    matrix[-1, num_words] = 1.0
    return matrix


def count_words(words: Words) -> int:
    """Return the number of words: one more than the highest word number."""
    return max((word for word in words if word is not None), default=-1) + 1


def word_labels(line: str, tokens: Sequence[str], words: Words) -> tuple[str, ...]:
    """Name the words of a line that closes with the end mark.

    Args:
        line: the text the tokens came from or made.
        tokens: display forms, the end mark last.
        words: the word number of each token.

    Returns:
        one label a word, and the end mark's own form last.
    """
    return (*name_words(line, tokens, words), tokens[-1])


def name_words(line: str, tokens: Sequence[str], words: Words) -> tuple[str, ...]:
    """Name the words: as they stand in the line, or else as their tokens put together.

    Args:
        line: the text the tokens came from or made.
        tokens: display forms.
        words: the word number of each token.

    Returns:
        one label a word; marks and blanks have none.
    """
    num_words = count_words(words)
    labels = line.split()[:num_words]
    if len(labels) < num_words:
        labels = [""] * num_words
        for token, word in zip(tokens, words, strict=True):
            if word is not None:
                labels[word] += token
    return tuple(labels)


@dataclass(frozen=True, eq=False)
class Units:
    """What a text is shown as, one label each.

    Attributes:
        labels: U of them, in the order of the text.
        membership: (T, U) of zeros and ones: which token belongs to which; a blank belongs to none.
    """

    labels: tuple[str, ...]
    membership: NDArray[np.float64]

    def attended(self, weights: NDArray[np.floating]) -> NDArray[np.float64]:
        """Merge where weights fell, (…, T) → (…, U): a word has what its tokens have together.

        What fell on blanks is lost, and nothing is scaled up to make good for it.
        """
        merged: NDArray[np.float64] = weights.astype(np.float64) @ self.membership
        return merged

    def attending(self, rows: NDArray[np.floating]) -> NDArray[np.float64]:
        """Merge who looked, (T, …) → (U, …): the mean over the tokens of a word."""
        num_pieces = np.maximum(self.membership.sum(axis=0), 1.0)  # (U,)
        merged: NDArray[np.float64] = (self.membership / num_pieces).T @ rows.astype(np.float64)
        return merged


def word_units(line: str, tokens: Sequence[str], words: Words) -> Units:
    """Find the words of a text; a token of no word at either end is a mark and stands for itself.

    Args:
        line: the text the tokens came from.
        tokens: T display forms.
        words: T word numbers counted from 0; None for marks and blanks.

    Raises:
        DataError: not as many words as tokens.
    """
    if len(tokens) != len(words):
        raise DataError(
            f"{line!r}: {len(words)} words for {len(tokens)} tokens; give one each, None for marks"
        )
    starts = bool(words) and words[0] is None
    ends = len(words) > starts and words[-1] is None
    num_words = count_words(words)
    matrix = np.zeros((len(words), starts + num_words + ends))
    for token, word in enumerate(words):
        if word is not None:
            matrix[token, starts + word] = 1.0
    if starts:
        matrix[0, 0] = 1.0
    if ends:
        matrix[-1, -1] = 1.0
    return Units((*tokens[:starts], *name_words(line, tokens, words), *tokens[len(tokens) - ends :]), matrix)
