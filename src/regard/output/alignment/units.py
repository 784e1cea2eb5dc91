"""The words of one text, and which tokens make them.

In: a line, its tokens and the word each belongs to. Out: `Units`, what stands for itself when the text is
shown: its words, and the marks of its beginning and end where there are any. Unlike `merge`, which asks for an
end mark on either side of a translation, it takes a text with both marks, one or none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError
from regard.output.alignment.merge import Words, count_words, name_words


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
