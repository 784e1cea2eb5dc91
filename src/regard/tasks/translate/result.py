"""`Translation`: one translated line, its tokens, scores, attention and links; and the replacement of unknown words.

In: what search found, in display forms. Out: text, word links, a figure, JSON. `replace_unknowns` replaces each target
word with an unknown piece through attention (Jean et al. 2015; Luong et al. 2015b): by the dictionary's entry for the
source word with the most attention, or else by that source word itself, since names and numbers are mostly written the
same. It works on words, not pieces; tokens, scores and attention stay as the model gave them. Knows nothing of models,
tokenizers or tensors; alpha is a numpy array.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError
from regard.evaluation.alignment.links import argmax_links
from regard.evaluation.alignment.words import (
    LabelledAlpha,
    count_words,
    merge_alpha,
    merged_words,
    word_labels,
)
from regard.tasks.result import PlottedResult
from regard.text.formats import read_file, shown
from regard.text.links import Links, in_order
from regard.text.specials import SPECIALS, UNK

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Translation(PlottedResult):
    """A line, its translation, and how the model came to it.

    Attributes:
        source: the line as given, without features.
        text: the translation, as it is printed.
        source_tokens: display forms, EOS last.
        tokens: display forms of the translation, EOS last.
        score: what ranked it: the length-normalised log-probability.
        log_prob: log p(target, end | source).
        token_log_probs: one for each of `tokens`; they sum to `log_prob`.
        alpha: (Ty, Tx), a row for each of `tokens` and a column for each of `source_tokens`; None where the
            model has no attention.
        alignment: the same of an alignment attention, from which links are read in place of alpha; None where the
            model has none.
        source_words: the word each source token belongs to; None for EOS and for blanks. A feature is a word
            after those of the text.
        target_words: the word each of `tokens` belongs to; None for EOS and for blanks.
        alternatives: the rest of the n-best list, best first.
        features: of the source, for a model that takes some.
        source_characters: whether the source tokens are characters, which pictures and links never merge to words.
        target_characters: whether `tokens` are characters.
    """

    source: str
    text: str
    source_tokens: tuple[str, ...]
    tokens: tuple[str, ...]
    score: float
    log_prob: float
    token_log_probs: tuple[float, ...]
    alpha: NDArray[np.floating] | None
    source_words: tuple[int | None, ...]
    target_words: tuple[int | None, ...]
    alternatives: tuple[Translation, ...] = ()
    features: tuple[str, ...] = ()
    source_characters: bool = False
    target_characters: bool = False
    alignment: NDArray[np.floating] | None = None

    def __post_init__(self) -> None:
        for name, given, wanted in (
            ("token_log_probs", len(self.token_log_probs), len(self.tokens)),
            ("target_words", len(self.target_words), len(self.tokens)),
            ("source_words", len(self.source_words), len(self.source_tokens)),
        ):
            if given != wanted:
                raise DataError(
                    f"translation of {self.source!r}: {given} {name} for {wanted} tokens; give one each"
                )
        shape = (len(self.tokens), len(self.source_tokens))
        for name, weights in (("alpha", self.alpha), ("alignment", self.alignment)):
            if weights is not None and weights.shape != shape:
                raise DataError(
                    f"translation of {self.source!r}: {name} has shape {weights.shape} where its tokens make "
                    f"{shape}; give one row per target token and one column per source token, EOS included"
                )

    @classmethod
    def blank(cls, source: str) -> Translation:
        """The translation of a blank line, which needs no model."""
        return cls(source, "", (), (), 0.0, 0.0, (), None, (), ())

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Translation({self.source_line!r} → {self.text!r}, score={self.score:.4f})"

    @property
    def source_line(self) -> str:
        """The source with its features after it, as it is shown."""
        return " ".join([self.source, *self.features])

    @cached_property
    def word_alpha(self) -> LabelledAlpha | None:
        """What links of words are read from, (I + 1, J + 1) with labels: the alignment, or else the attention.

        None where there is neither.
        """
        return self._between(self._aligning, source_tokens=False, target_tokens=False)

    @cached_property
    def linked_alpha(self) -> LabelledAlpha | None:
        """The same between what links count: characters where the tokens are characters, words elsewhere."""
        if not self.source_characters and not self.target_characters:
            return self.word_alpha
        characters = {"source_tokens": self.source_characters, "target_tokens": self.target_characters}
        return self._between(self._aligning, **characters)

    @cached_property
    def shown_alpha(self) -> LabelledAlpha | None:
        """Attention as it is drawn: as it is linked, but a side of a single word, one row or column, by its pieces."""
        source_tokens, target_tokens = self._shown_tokens
        as_linked = self._shown_tokens == (self.source_characters, self.target_characters)
        if as_linked and self.alignment is None:
            return self.linked_alpha
        return self._between(self.alpha, source_tokens=source_tokens, target_tokens=target_tokens)

    @property
    def shows_words(self) -> bool:
        """Whether both sides of `shown_alpha` are words."""
        return self._shown_tokens == (False, False)

    @property
    def _shown_tokens(self) -> tuple[bool, bool]:
        """Whether the source, and the target, is drawn by its tokens."""
        return (
            self.source_characters or count_words(self.source_words) - len(self.features) == 1,
            self.target_characters or count_words(self.target_words) == 1,
        )

    @property
    def _aligning(self) -> NDArray[np.floating] | None:
        """The weights that links are read from."""
        return self.alpha if self.alignment is None else self.alignment

    def _between(
        self, weights: NDArray[np.floating] | None, *, source_tokens: bool, target_tokens: bool
    ) -> LabelledAlpha | None:
        """Weights between tokens, with those of a side as they are, or merged to words."""
        if weights is None:
            return None
        return LabelledAlpha(
            merge_alpha(
                weights,
                merged_words(self.source_words, characters=source_tokens),
                merged_words(self.target_words, characters=target_tokens),
            ),
            self.source_tokens
            if source_tokens
            else word_labels(self.source_line, self.source_tokens, self.source_words),
            self.tokens if target_tokens else word_labels(self.text, self.tokens, self.target_words),
        )

    @cached_property
    def links(self) -> Links:
        """The arg-max alignment, of characters where tokens are characters and of words elsewhere.

        Empty where there is no attention.
        """
        return frozenset() if self.linked_alpha is None else argmax_links(self.linked_alpha.alpha)

    @property
    def word_links(self) -> Links:
        """The arg-max alignment between words, as gold links count; empty where there is no attention."""
        return frozenset() if self.word_alpha is None else argmax_links(self.word_alpha.alpha)

    @property
    def link_units(self) -> tuple[str, str]:
        """What `links` count in the source and in the target: "characters" or "words"."""
        names = {True: "characters", False: "words"}
        return names[self.source_characters], names[self.target_characters]

    def figure(self, *, words: bool | None = None) -> Figure:
        """Draw the attention as a heat map; without attention, an empty one.

        Args:
            words: whether rows and columns are words rather than tokens; by default characters are never merged to
                words, see `shown_alpha`.
        """
        from regard.plots.figures.heatmap import draw_heatmap

        if self.alpha is None:
            return draw_heatmap(np.zeros((0, 0)), (), (), title="no attention")
        if words is False:
            return draw_heatmap(self.alpha, self.source_tokens, self.tokens)
        whole = self._between(self.alpha, source_tokens=False, target_tokens=False)
        drawn = whole if words else self.shown_alpha
        assert drawn is not None, "alpha is there"
        return draw_heatmap(drawn.alpha, drawn.source_labels, drawn.target_labels)

    def _repr_html_(self) -> str:
        """The attention as a heat map, for a notebook; without attention, the two texts."""
        from regard.plots.html import heatmap_html, table_html
        from regard.plots.text import before_and_after

        shown = self.shown_alpha
        if shown is None:
            return table_html(("source", "translation"), [(self.source_line, self.text)])
        caption = before_and_after(self.source_line, self.text)
        return heatmap_html(shown.source_labels, shown.target_labels, shown.alpha, caption=caption)

    def to_json(self, *, alpha: bool = True) -> dict[str, Any]:
        """Give everything as a JSON object, alpha to four decimals.

        Args:
            alpha: whether to include the attention, which is most of the bytes; the links are always included.
        """
        attention, alignment = (
            None if each is None else np.round(each.astype(np.float64), 4).tolist()
            for each in (self.alpha, self.alignment)
        )
        return {
            "source": self.source,
            **({"features": list(self.features)} if self.features else {}),
            "text": self.text,
            "score": self.score,
            "log_prob": self.log_prob,
            "source_tokens": list(self.source_tokens),
            "tokens": list(self.tokens),
            "token_log_probs": list(self.token_log_probs),
            "source_words": list(self.source_words),
            "target_words": list(self.target_words),
            "links": list(map(list, in_order(self.links))),
            "link_units": list(self.link_units),
            **({"alpha": attention} if alpha else {}),
            **({"alignment": alignment} if alpha and alignment is not None else {}),
            "alternatives": [other.to_json(alpha=alpha) for other in self.alternatives],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Translation:
        """Read what `to_json` gives; where that is without alpha, the links are kept."""
        alpha, alignment = values.get("alpha"), values.get("alignment")
        source_unit, target_unit = values["link_units"]
        translation = cls(
            source=values["source"],
            text=values["text"],
            source_tokens=tuple(values["source_tokens"]),
            tokens=tuple(values["tokens"]),
            score=values["score"],
            log_prob=values["log_prob"],
            token_log_probs=tuple(values["token_log_probs"]),
            alpha=None if alpha is None else np.array(alpha),
            source_words=tuple(values["source_words"]),
            target_words=tuple(values["target_words"]),
            alternatives=tuple(map(cls.from_json, values["alternatives"])),
            features=tuple(values.get("features", ())),
            source_characters=source_unit == "characters",
            target_characters=target_unit == "characters",
            alignment=None if alignment is None else np.array(alignment),
        )
        # in the place where the cached property keeps them
        vars(translation)["links"] = frozenset((source, target) for source, target in values["links"])
        return translation


_UNKNOWN = SPECIALS[UNK]


def replace_unknowns(translation: Translation, dictionary: Mapping[str, str] | None = None) -> Translation:
    """Replace each target word that has an unknown piece, in the translation and in its alternatives.

    A word whose attention is all on the source's EOS, and any word of a model without attention, stays unknown.

    Args:
        translation: whose text is changed.
        dictionary: what source words become; a word not in it is looked up in lower case, then copied.
    """
    others = tuple(replace_unknowns(other, dictionary) for other in translation.alternatives)
    return replace(translation, text=_text(translation, dictionary or {}), alternatives=others)


def _text(translation: Translation, dictionary: Mapping[str, str]) -> str:
    unknown = {
        word
        for token, word in zip(translation.tokens, translation.target_words, strict=True)
        if token == _UNKNOWN and word is not None
    }
    attention = translation.word_alpha
    if not unknown or attention is None:
        return translation.text
    parts = re.findall(r"\s+|\S+", translation.text)  # white space too, which a character model generates
    places = [k for k, part in enumerate(parts) if not part.isspace()]
    if len(places) != count_words(translation.target_words):
        return translation.text  # the text was changed before: its words no longer match the tokens
    for word in unknown:
        row = attention.alpha[word, : -1 - len(translation.features)]  # (J,), without features and EOS
        if row.size and row.max() > 0:
            parts[places[word]] = _entry(attention.source_labels[int(row.argmax())], dictionary)
    return "".join(parts)


def _entry(source: str, dictionary: Mapping[str, str]) -> str:
    return dictionary.get(source, dictionary.get(source.lower(), source))


def read_dictionary(path: str | Path) -> dict[str, str]:
    """Read a dictionary: on each line a source word, a tab, and what it becomes, one word or several.

    Of several entries for a word the first is used; blank lines are skipped.

    Raises:
        DataError: the file cannot be read, or a line has no tab, no word before it or nothing after it.
    """
    entries: dict[str, str] = {}
    for number, line in enumerate(read_file(path), start=1):
        if not line.strip():
            continue
        source, tab, target = line.partition("\t")
        if not tab or not source.strip() or not target.strip():
            raise DataError(
                f"{shown(path)}:{number}: {line[:60]!r} is not an entry of a dictionary; write a source word, a tab, "
                "and what it becomes"
            )
        entries.setdefault(source.strip(), target.strip())
    return entries
