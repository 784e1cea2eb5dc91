"""`SearchTree`: the search for one line's translation, as tokens: every partial hypothesis kept, finished or pruned.

In: a search's `History`, decoded by `decode_history`. Out: the steps, the paths through them, a figure, JSON. Knows
nothing of models or tensors; alpha is a numpy array.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.search.trace import Fate, History, Node
from regard.tasks.result import PlottedResult
from regard.tasks.translate.result import Translation
from regard.text import Tokenizer

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class PartialHypothesis:
    """The first tokens of an output, represented by the last of them.

    Attributes:
        id: its index in the tree, counted from 0.
        parent: the id of the partial hypothesis it continues; None in the first step.
        token: the display form of its last token.
        log_prob: log p of that token.
        total: log p of all its tokens.
        score: its score if it ended here.
        fate: ``kept`` where it had a place in the beam, ``finished`` where it chose EOS, ``pruned`` where
            others were better.
        alternatives: the most probable tokens in place of the last, best first, each with its log p.
        alpha: (Tx,), the attention when the token was chosen; None without attention.
    """

    id: int
    parent: int | None
    token: str
    log_prob: float
    total: float
    score: float
    fate: Fate
    alternatives: tuple[tuple[str, float], ...] = ()
    alpha: NDArray[np.floating] | None = None

    def to_json(self) -> dict[str, Any]:
        """Give it as a JSON object, alpha to four decimals."""
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

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> PartialHypothesis:
        """Read what `to_json` gives."""
        alpha = values["alpha"]
        others = tuple((each["token"], each["log_prob"]) for each in values["alternatives"])
        read = {"alternatives": others, "alpha": None if alpha is None else np.array(alpha)}
        return cls(**{**values, **read})


@dataclass(frozen=True, eq=False)
class SearchTree(PlottedResult):
    """The search for a line's translation.

    Attributes:
        translation: the result, with the rest of the n-best list as its alternatives.
        steps: for each step its partial hypotheses; those kept and finished first, then those pruned.
    """

    translation: Translation
    steps: tuple[tuple[PartialHypothesis, ...], ...]

    def __str__(self) -> str:
        return self.translation.text

    def __repr__(self) -> str:
        source = self.translation.source_line
        return f"SearchTree({source!r}, {len(self.steps)} steps, {len(self._all)} partial hypotheses)"

    @cached_property
    def _all(self) -> tuple[PartialHypothesis, ...]:
        return tuple(partial for step in self.steps for partial in step)

    @property
    def finished(self) -> tuple[PartialHypothesis, ...]:
        """The finished hypotheses by their last tokens, best score first."""
        ends = (partial for partial in self._all if partial.fate == "finished")
        return tuple(sorted(ends, key=lambda end: -end.score))

    @cached_property
    def best(self) -> tuple[PartialHypothesis, ...]:
        """The path of the best output, from its first token to its EOS; empty for a blank line."""
        return self.path_to(self.finished[0]) if self.finished else ()

    def path_to(self, end: PartialHypothesis) -> tuple[PartialHypothesis, ...]:
        """A partial hypothesis from its first token."""
        return tuple(reversed(list(self._back_from(end))))

    def _back_from(self, end: PartialHypothesis) -> Iterator[PartialHypothesis]:
        yield end
        while end.parent is not None:
            end = self._all[end.parent]
            yield end

    def after(self, parent: PartialHypothesis | None) -> tuple[PartialHypothesis, ...]:
        """The continuations of a partial hypothesis, in the order of their step; of None, the first step."""
        return self._children.get(None if parent is None else parent.id, ())

    @cached_property
    def _children(self) -> dict[int | None, tuple[PartialHypothesis, ...]]:
        children: dict[int | None, tuple[PartialHypothesis, ...]] = {}
        for partial in self._all:
            children[partial.parent] = (*children.get(partial.parent, ()), partial)
        return children

    def attended_token(self, partial: PartialHypothesis) -> str | None:
        """The source token with the most attention when the last token was chosen; None without attention."""
        return None if partial.alpha is None else self.translation.source_tokens[int(partial.alpha.argmax())]

    @property
    def _attended(self) -> list[str]:
        """The source token with the most attention at each step of the best output; none without attention."""
        return [token for partial in self.best if (token := self.attended_token(partial)) is not None]

    def figure(self, *, pruned: bool = True, title: str | None = None) -> Figure:
        """Draw the tree, its first tokens at the top.

        Args:
            pruned: whether to draw pruned hypotheses too.
            title: a line above it; by default the source.
        """
        from regard.plots.figures.beam_tree import draw_beam_tree

        return draw_beam_tree(
            self._all,
            attended=self._attended,
            pruned=pruned,
            title=self.translation.source_line if title is None else title,
        )

    def _repr_html_(self) -> str:
        """The tree, for a notebook."""
        from regard.plots.html import tree_html

        return tree_html(self._all, attended=self._attended, caption=self.translation.source_line)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> SearchTree:
        """Read what `to_json` gives."""
        steps = (tuple(map(PartialHypothesis.from_json, step)) for step in values["steps"])
        return cls(Translation.from_json(values), tuple(steps))

    def to_json(self) -> dict[str, Any]:
        """Give everything as a JSON object: the translation, and the steps as lists of partial hypotheses."""
        return {
            **self.translation.to_json(),
            "steps": [[partial.to_json() for partial in step] for step in self.steps],
        }


def decode_history(history: History, tokenizer: Tokenizer) -> tuple[tuple[PartialHypothesis, ...], ...]:
    """The steps of a search, its ids as tokens of the target.

    Args:
        history: what the search recorded.
        tokenizer: the target's.
    """
    return tuple(tuple(_decode_node(node, tokenizer) for node in step) for step in history.steps)


def _decode_node(node: Node, tokenizer: Tokenizer) -> PartialHypothesis:
    token, *others = tokenizer.tokens([node.token, *(each.id for each in node.alternatives)])
    log_probs = [each.log_prob for each in node.alternatives]
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
