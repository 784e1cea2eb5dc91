"""What a search went through for one line, in words: every beginning it kept, finished or gave up.

In: a search's record, in display forms. Out: `SearchTree`: the steps, the ways through them, a picture, JSON. Knows
nothing of models, tokenizers or tensors; alpha is a numpy array.

A line → its translation with all that the search went through, in words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from regard.search import History, Node, SearchOptions
from regard.tasks.translate.result import Translation
from regard.text import Tokenizer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from regard.tasks.translate.predictor import Translator


@dataclass(frozen=True, eq=False)
class PartialHypothesis:
    """The first words of an output, by the last of them.

    Attributes:
        id: its place among all of the tree, counted from 0.
        parent: the id of the beginning it grew from; None in the first step.
        token: the display form of the word it added.
        log_prob: log p of that word.
        total: log p of all its words.
        score: what would rank it among finished outputs, were it to end here.
        fate: ``kept`` where the search could go on from it, ``finished`` where it chose the end mark, ``pruned`` where
            others were better.
        alternatives: the likeliest words in its place, best first, each with its log p.
        alpha: (Tx,), where the model looked as it chose the word; None without attention.
    """

    id: int
    parent: int | None
    token: str
    log_prob: float
    total: float
    score: float
    fate: Literal["kept", "finished", "pruned"]
    alternatives: tuple[tuple[str, float], ...] = ()
    alpha: NDArray[np.floating] | None = None

    def to_json(self) -> dict[str, Any]:
        """Give the beginning as a JSON object, alpha to four decimals."""
        return {
            "id": self.id,
            "parent": self.parent,
            "token": self.token,
            "log_prob": self.log_prob,
            "total": self.total,
            "score": self.score,
            "fate": self.fate,
            "alternatives": [{"token": token, "log_prob": log_prob} for token, log_prob in self.alternatives],
            "alpha": None if self.alpha is None else np.round(self.alpha.astype(np.float64), 4).tolist(),
        }


@dataclass(frozen=True, eq=False)
class SearchTree:
    """How a line's translation was found.

    Attributes:
        translation: what was found, with the rest of the n-best list as its alternatives.
        steps: for each step its beginnings; those kept and finished first, then those pruned.
    """

    translation: Translation
    steps: tuple[tuple[PartialHypothesis, ...], ...]

    def __str__(self) -> str:
        return self.translation.text

    def __repr__(self) -> str:
        return (
            f"SearchTree({self.translation.source!r}, {len(self.steps)} steps, {len(self._all)} beginnings)"
        )

    @cached_property
    def _all(self) -> tuple[PartialHypothesis, ...]:
        return tuple(one for step in self.steps for one in step)

    @property
    def finished(self) -> tuple[PartialHypothesis, ...]:
        """The ends of the outputs that were found, the best score first."""
        return tuple(sorted((one for one in self._all if one.fate == "finished"), key=lambda one: -one.score))

    @cached_property
    def best(self) -> tuple[PartialHypothesis, ...]:
        """The way to the best output, from its first word to its end mark; empty where nothing was found."""
        return self.way_to(self.finished[0]) if self.finished else ()

    def way_to(self, end: PartialHypothesis) -> tuple[PartialHypothesis, ...]:
        """A beginning from its first word."""
        return tuple(reversed(list(self._back_from(end))))

    def _back_from(self, end: PartialHypothesis) -> Iterator[PartialHypothesis]:
        yield end
        while end.parent is not None:
            end = self._all[end.parent]
            yield end

    def after(self, one: PartialHypothesis | None) -> tuple[PartialHypothesis, ...]:
        """What grew from a beginning, in the order of its step; from None, the first step."""
        return self._children.get(None if one is None else one.id, ())

    @cached_property
    def _children(self) -> dict[int | None, tuple[PartialHypothesis, ...]]:
        children: dict[int | None, tuple[PartialHypothesis, ...]] = {}
        for one in self._all:
            children[one.parent] = (*children.get(one.parent, ()), one)
        return children

    def looked_at(self, one: PartialHypothesis) -> str | None:
        """The source token with the most attention as a beginning's word was chosen; None without attention."""
        return None if one.alpha is None else self.translation.source_tokens[int(one.alpha.argmax())]

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        pruned: bool = True,
        title: str | None = None,
    ) -> Figure:
        """Draw the tree, its first words above.

        Args:
            path: where to save the picture, its format by its ending; nowhere if None.
            pruned: whether to draw what was weighed and not kept, too.
            title: a line above it; by default the source.

        Raises:
            MissingExtraError: matplotlib is not installed.
            DataError: the picture cannot be written.
        """
        from regard.plots.figures.beam_tree import draw_beam_tree
        from regard.plots.figures.canvas import save

        figure = draw_beam_tree(
            self._all,
            attended=[token for one in self.best if (token := self.looked_at(one)) is not None],
            pruned=pruned,
            title=self.translation.source if title is None else title,
        )
        if path is not None:
            save(figure, path)
        return figure

    def to_json(self) -> dict[str, Any]:
        """Give everything as a JSON object: the translation, and the steps as lists of beginnings."""
        return {
            **self.translation.to_json(),
            "steps": [[one.to_json() for one in step] for step in self.steps],
        }


def search_tree(translator: "Translator", line: str, options: SearchOptions) -> SearchTree:
    """Translate a line and keep the search's record; a blank line has none.

    Args:
        translator: whose search.
        line: what to translate.
        options: how to search.
    """
    (ids,) = translator.encode([line])
    if not ids:
        return SearchTree(Translation.blank(line), ())
    (found,) = translator.search([ids], options, history=True)
    assert found.history is not None, "it was asked for"
    translation = translator.rendered(line, ids, found.hypotheses)
    return SearchTree(translation, in_words(found.history, translator.target_tokenizer))


def in_words(history: History, tokenizer: Tokenizer) -> tuple[tuple[PartialHypothesis, ...], ...]:
    """A search's record, its ids become words of the target.

    Args:
        history: what the search recorded.
        tokenizer: the target's.
    """
    return tuple(tuple(_beginning(node, tokenizer) for node in step) for step in history.steps)


def _beginning(node: Node, tokenizer: Tokenizer) -> PartialHypothesis:
    token, *others = tokenizer.tokens([node.token, *(rival.id for rival in node.alternatives)])
    log_probs = [rival.log_prob for rival in node.alternatives]
    return PartialHypothesis(
        node.id,
        node.parent,
        token,
        node.log_prob,
        node.total,
        node.score,
        node.fate,
        tuple(zip(others, log_probs, strict=True)),
        node.alpha,
    )
