"""Attention over words, or over characters, from attention over tokens.

In: a line, its tokens, the word each token belongs to, and alpha over the tokens. Out: for a translation, alpha
(I + 1, J + 1) over I target and J source words, EOS last in both directions; for a text that attends to
itself, `Units`: its words, and the marks of its start and end where it has them. A text whose tokens are characters is
shown and linked by characters, any other by words: that is `merged_words`. Knows nothing of tokenizers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError

Words = Sequence[int | None]


@dataclass(frozen=True, eq=False)
class LabelledAlpha:
    """Attention between words or tokens, with the labels of its rows and columns.

    Attributes:
        alpha: (I + 1, J + 1), EOS last in both directions.
        source_labels: J + 1 of them, EOS last.
        target_labels: I + 1 of them, EOS last.
    """

    alpha: NDArray[np.float64]
    source_labels: tuple[str, ...]
    target_labels: tuple[str, ...]


def merged_words(words: Words, *, characters: bool) -> Words:
    """Which row or column of a picture, or end of a link, each token belongs to.

    The one rule for all pictures and links: a token that is a character stands for itself, as do blanks between
    characters; the pieces of a word are merged.

    Args:
        words: the word number of each token; the last is EOS.
        characters: whether the tokens are characters.
    """
    return (*range(len(words) - 1), None) if characters else words


def merge_alpha(alpha: NDArray[np.floating], source_words: Words, target_words: Words) -> NDArray[np.float64]:
    """Merge the tokens of each word: the sum over a source word, the mean over a target word.

    A word is attended to as much as its tokens together, hence the sum; each token of a target word has a
    distribution of its own, hence the mean. The weight of source tokens that belong to no word (the blanks of a
    character model) is dropped without rescaling: a row sums to 1 minus the weight on blanks, so that the weights
    stay those the decoder used. Target tokens that belong to no word give no row. A word without tokens gives zeros.

    Args:
        alpha: (Ty, Tx), EOS last in both directions.
        source_words: Tx word numbers counted from 0; None for EOS and for blanks.
        target_words: the same for the Ty target tokens.

    Returns:
        (I + 1, J + 1), EOS last in both directions.

    Raises:
        DataError: the lengths disagree, or a side does not end with EOS.
    """
    if alpha.shape != (len(target_words), len(source_words)):
        raise DataError(
            f"alpha has shape {alpha.shape}, but there are {len(target_words)} target and "
            f"{len(source_words)} source tokens; give one row per target token and one column per source token"
        )
    target = membership(target_words, "target")  # (Ty, I + 1)
    source = membership(source_words, "source")  # (Tx, J + 1)
    num_pieces = np.maximum(target.sum(axis=0), 1.0)  # (I + 1,)
    merged: NDArray[np.float64] = (
        (target / num_pieces).T @ alpha.astype(np.float64) @ source
    )  # (I + 1, J + 1)
    return merged


def membership(words: Words, side: str) -> NDArray[np.float64]:
    """A matrix (T, words + 1) of zeros and ones: which token belongs to which word, EOS last.

    Args:
        words: the word number of each token, None where there is none; the last is EOS.
        side: "source" or "target", for the error message.

    Raises:
        DataError: the last token belongs to a word, so it is not EOS.
    """
    if not words or words[-1] is not None:
        last = words[-1] if words else "missing"
        raise DataError(
            f"the {side} must end with EOS, which belongs to no word; its last word number is {last}"
        )
    num_words = count_words(words)
    matrix = np.zeros((len(words), num_words + 1))
    for token, word in enumerate(words):
        if word is not None:
            matrix[token, word] = 1.0
    matrix[-1, num_words] = 1.0
    return matrix


def count_words(words: Words) -> int:
    """The number of words: one more than the highest word number."""
    return max((word for word in words if word is not None), default=-1) + 1


def word_labels(line: str, tokens: Sequence[str], words: Words) -> tuple[str, ...]:
    """The labels of a line that ends with EOS.

    Args:
        line: the text of the tokens.
        tokens: display forms, EOS last.
        words: the word number of each token.

    Returns:
        one label per word, and EOS's own form last.
    """
    return (*name_words(line, tokens, words), tokens[-1])


def name_words(line: str, tokens: Sequence[str], words: Words) -> tuple[str, ...]:
    """The words as the line has them, or as their tokens concatenated if the line has fewer.

    Args:
        line: the text of the tokens.
        tokens: display forms.
        words: the word number of each token.

    Returns:
        one label per word; marks and blanks have none.
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
    """The words and marks that a text is displayed as.

    Attributes:
        labels: U of them, in the order of the text.
        membership: (T, U) of zeros and ones: which token belongs to which unit; a blank belongs to none.
    """

    labels: tuple[str, ...]
    membership: NDArray[np.float64]

    def attended(self, weights: NDArray[np.floating]) -> NDArray[np.float64]:
        """Merge attended tokens, (…, T) → (…, U): the sum over the tokens of a word.

        The weight on blanks is dropped without rescaling.
        """
        merged: NDArray[np.float64] = weights.astype(np.float64) @ self.membership
        return merged

    def attending(self, rows: NDArray[np.floating]) -> NDArray[np.float64]:
        """Merge attending tokens, (T, …) → (U, …): the mean over the tokens of a word."""
        num_pieces = np.maximum(self.membership.sum(axis=0), 1.0)  # (U,)
        merged: NDArray[np.float64] = (self.membership / num_pieces).T @ rows.astype(np.float64)
        return merged


def text_units(line: str, tokens: Sequence[str], words: Words, *, characters: bool = False) -> Units:
    """The units of a text: its words, and a mark at either end for a token that belongs to no word.

    As in `merged_words`, a token that is a character is a unit of its own.

    Args:
        line: the text of the tokens.
        tokens: T display forms.
        words: T word numbers counted from 0; None for marks and blanks.
        characters: whether the tokens are characters.

    Raises:
        DataError: not as many words as tokens.
    """
    if len(tokens) != len(words):
        raise DataError(
            f"{line!r}: {len(words)} words for {len(tokens)} tokens; give one per token, None for marks"
        )
    if characters:
        return Units(tuple(tokens), np.eye(len(tokens)))
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
