"""A text with its predicted label and pooling weights.

In: one or two sentences, probabilities, pooling weights. Out: `Classification`: weights of words, a plot, JSON. Knows
nothing of models, tokenizers or tensors; alpha is numpy arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError, nearest
from regard.evaluation.alignment.words import Units, text_units
from regard.tasks.result import JsonResult, PlottedResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Classification(PlottedResult, JsonResult):
    """A text and its label.

    Attributes:
        texts: the sentences as given: one, or the two of a pair.
        label: the predicted one; empty, without probabilities, for a blank text.
        probabilities: of every label, by id.
        tokens: of each sentence, as display forms.
        words: of each sentence, the index of each token's word; None for marks and blanks.
        alpha: of each sentence, the pooling weight of each token; None where the model does not pool by attention.
        characters: whether the tokens are characters, which pictures never merge to words.
    """

    json_names = ("texts", "label", "probabilities", "tokens", "words", "alpha", "characters")

    texts: tuple[str, ...]
    label: str
    probabilities: Mapping[str, float]
    tokens: tuple[tuple[str, ...], ...]
    words: tuple[tuple[int | None, ...], ...]
    alpha: tuple[NDArray[np.floating], ...] | None
    characters: bool = False

    def __post_init__(self) -> None:
        if not self.texts:
            raise DataError("classification of nothing; give one sentence, or the two of a pair")
        place = f"classification of {' / '.join(self.texts)!r}"
        if (self.label or self.probabilities) and self.label not in self.probabilities:
            raise DataError(
                f"{place}: {self.label!r} is not a label; {nearest(self.label, self.probabilities)}"
            )
        parts = {"tokens": len(self.tokens), "words": len(self.words)}
        if self.alpha is not None:
            parts["alpha"] = len(self.alpha)
        for name, given in parts.items():
            if given != len(self.texts):
                raise DataError(
                    f"{place}: {name} for {given} sentences of {len(self.texts)}; give them for each"
                )
        for number, tokens in enumerate(self.tokens):
            lengths = {"words": len(self.words[number])}
            if self.alpha is not None:
                lengths["weights"] = self.alpha[number].size
            for name, given in lengths.items():
                if given != len(tokens):
                    raise DataError(f"{place}: {given} {name} for {len(tokens)} tokens; give one for each")

    @classmethod
    def blank(cls, texts: tuple[str, ...]) -> Classification:
        """The result for a blank text: no label, no tokens."""
        nothing = ((),) * len(texts)
        return cls(texts, "", {}, nothing, nothing, None)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Classification:
        """Read what `to_json` gives."""
        alpha = values["alpha"]
        return cls(
            tuple(values["texts"]),
            values["label"],
            values["probabilities"],
            tuple(map(tuple, values["tokens"])),
            tuple(map(tuple, values["words"])),
            None if alpha is None else tuple(map(np.array, alpha)),
            values["characters"],
        )

    def __str__(self) -> str:
        return self.label

    def __repr__(self) -> str:
        return f"Classification({' / '.join(self.texts)!r} → {self.label!r}, p={self.probability:.4f})"

    @property
    def probability(self) -> float:
        """Of the predicted label; 0 where there is none."""
        return self.probabilities.get(self.label, 0.0)

    @cached_property
    def units(self) -> tuple[Units, ...]:
        """The words or characters of each sentence, and the marks at its ends, with the tokens they consist of."""
        return tuple(
            text_units(text, tokens, words, characters=self.characters)
            for text, tokens, words in zip(self.texts, self.tokens, self.words, strict=True)
        )

    @cached_property
    def word_alpha(self) -> tuple[NDArray[np.float64], ...] | None:
        """The weight of each unit of each sentence: the sum over its tokens."""
        if self.alpha is None:
            return None
        return tuple(units.attended(alpha) for units, alpha in zip(self.units, self.alpha, strict=True))

    def figure(self, *, title: str | None = None) -> Figure:
        """Draw the words shaded by their weights, beside the probabilities of the labels, with a title."""
        from regard.plots.figures.words import draw_pooling

        return draw_pooling([self], title=title)

    def _repr_html_(self) -> str:
        """The words on their weights below the probabilities of the labels, for a notebook."""
        from regard.plots.figures.words import pooling_scale_end

        return self.html(pooling_scale_end([self]) or 1.0)

    def html(self, end: float) -> str:
        """As a notebook shows it, to a given scale.

        Args:
            end: the weight of the darkest shade.
        """
        from regard.plots.colours import weight_colour
        from regard.plots.html import shade_key, words_html

        key = shade_key("pooling weight", weight_colour, end=end) if self.alpha else None
        ranked = sorted(self.probabilities.items(), key=lambda pair: -pair[1])
        weights = self.word_alpha or [np.zeros(len(units.labels)) for units in self.units]
        return words_html(
            [(units.labels, alpha.tolist()) for units, alpha in zip(self.units, weights, strict=True)],
            caption=" · ".join(
                f"{label}: {100 * probability:.0f}\N{NO-BREAK SPACE}%" for label, probability in ranked[:5]
            ),
            key=key,
            end=end,
        )
