"""Which word each column of the logits stands for: all of them in order, or those of a shortlist."""

import numpy as np
import numpy.typing as npt
from torch import Tensor

from regard.errors import ConfigError
from regard.text.specials import EOS

Ids = npt.NDArray[np.int64]


class VocabularyMap:
    """Columns ↔ ids.

    Args:
        words: (V,), the shortlist's ids in the order of the columns; None where column and id are the same.
        number: V, how many columns there are.

    Raises:
        ConfigError: the end mark is not in the shortlist.
    """

    def __init__(self, words: Tensor | None, number: int) -> None:
        self.number = number
        self._words: Ids | None = None if words is None else words.cpu().numpy()
        self._places = None if words is None else {int(word): k for k, word in enumerate(words.tolist())}
        if self._places is not None and EOS not in self._places:
            raise ConfigError("the shortlist holds no end mark, so that no output could end; add it")

    def ids(self, columns: Ids) -> Ids:
        """The words of some columns."""
        return columns if self._words is None else self._words[columns]

    def column_or_none(self, word: int) -> int | None:
        """The column of a word; None where there is none."""
        if self._places is not None:
            return self._places.get(word)
        return word if 0 <= word < self.number else None

    def of(self, word: int) -> int:
        """The column of a word that is asked for.

        Raises:
            ConfigError: there is none.
        """
        column = self.column_or_none(word)
        if column is None:
            where = "vocabulary" if self._places is None else "shortlist"
            raise ConfigError(
                f"the word with id {word} is asked for and is not in the {where}; drop it, or add it there"
            )
        return column
