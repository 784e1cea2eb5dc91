"""One text, and where a model that attends to its own past looked as it read it.

In: tokens, and attention of every step over the positions before it. Out: `Reading`: attention over words, a
picture, JSON. Knows nothing of models, tokenizers or tensors; alpha is numpy arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import ConfigError, DataError
from regard.output.alignment.units import Units, word_units

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_UNSEEN = 1e-6  # a softmax over what is hidden leaves less


@dataclass(frozen=True, eq=False)
class Reading:
    """A line as it was read, step by step.

    Attributes:
        text: the line as given.
        tokens: T display forms, with the marks of the beginning and the end where the model reads them.
        words: the word each token belongs to; None for marks and blanks.
        alpha: for each layer (T, T): row t is where step t looked, a column is a position. Zeros where there was
            nothing to look at; nothing above the diagonal.
        token_log_probs: log p(token | those before it), None for a token that was not predicted; None as a whole
            for a model that predicts nothing.
    """

    text: str
    tokens: tuple[str, ...]
    words: tuple[int | None, ...]
    alpha: tuple[NDArray[np.floating], ...]
    token_log_probs: tuple[float | None, ...] | None = None

    def __post_init__(self) -> None:
        size = len(self.tokens)
        for name, given in (("words", self.words), ("token_log_probs", self.token_log_probs)):
            if given is not None and len(given) != size:
                raise DataError(
                    f"reading of {self.text!r}: {len(given)} {name} for {size} tokens; give one each"
                )
        for layer, alpha in enumerate(self.alpha):
            if alpha.shape != (size, size):
                raise DataError(
                    f"reading of {self.text!r}: alpha of layer {layer} has shape {alpha.shape} where its tokens "
                    f"make {(size, size)}; give one row a step and one column a position"
                )
            ahead = np.argwhere(np.triu(alpha, 1) > _UNSEEN)
            if len(ahead):
                step, position = map(int, ahead[0])
                raise DataError(
                    f"reading of {self.text!r}: step {step} of layer {layer} looks ahead at position {position}; "
                    "a row is a step, a column a position before it: is alpha transposed?"
                )

    def __repr__(self) -> str:
        return f"Reading({self.text!r}, {len(self.alpha)} layers)"

    @cached_property
    def units(self) -> Units:
        """The words, and the marks at the ends, with the tokens that make them."""
        return word_units(self.text, self.tokens, self.words)

    @property
    def labels(self) -> tuple[str, ...]:
        """What stands at the rows and the columns of `word_alpha`."""
        return self.units.labels

    def word_alpha(self, layer: int = -1) -> NDArray[np.float64]:
        """Attention between words (U, U): the mean over the tokens that look, the sum over those looked at.

        A word of several tokens may look at itself: its later tokens at its earlier ones.

        Args:
            layer: counted from 0, or from the last one by -1, -2, ….

        Raises:
            ConfigError: there is no such layer.
        """
        if not -len(self.alpha) <= layer < len(self.alpha):
            raise ConfigError(
                f"layer = {layer}, but the reading of {self.text!r} has {len(self.alpha)} layers of attention; "
                "count them from 0"
            )
        return self.units.attending(self.units.attended(self.alpha[layer]))

    def plot(
        self, path: str | PathLike[str] | None = None, *, layer: int = -1, title: str | None = None
    ) -> Figure:
        """Draw the growing sentence, a row a word, what it looked at shaded.

        Args:
            path: where to save the picture, its format by its ending; nowhere if None.
            layer: as in `word_alpha`.
            title: a line above it.

        Raises:
            ConfigError: there is no such layer.
            MissingExtraError: matplotlib is not installed.
            DataError: the picture cannot be written.
        """
        from regard.output.pictures.canvas import save
        from regard.output.pictures.reading import draw_reading

        figure = draw_reading(self.labels, self.word_alpha(layer), title=title)
        if path is not None:
            save(figure, path)
        return figure

    def to_json(self) -> dict[str, Any]:
        """Give everything as a JSON object, alpha to four decimals."""
        return {
            "text": self.text,
            "tokens": list(self.tokens),
            "words": list(self.words),
            "token_log_probs": None if self.token_log_probs is None else list(self.token_log_probs),
            "alpha": [np.round(alpha.astype(np.float64), 4).tolist() for alpha in self.alpha],
        }
