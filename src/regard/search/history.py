"""What a search went through: every beginning it kept, finished or gave up, step by step, for one sentence.

Filled by the search when it is asked to; ids, not text. Plain data: a tree whose nodes stand in the order they were
made, each naming its parent. What was weighed and not kept is in it as well, as far as the search looked.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from regard.errors import DataError

Fate = Literal["kept", "finished", "pruned"]
"""kept: the search went on from it, or could have; finished: it chose the end mark; pruned: it was weighed, and
others were better."""


@dataclass(frozen=True)
class Node:
    """A beginning, and what became of it.

    Attributes:
        id: its place among all nodes of the history, counted from 0.
        parent: the id of the beginning it grew from, a kept one of the step before; None in the first step.
        token: the word it added.
        log_prob: log p of that word, given the beginning and the source.
        total: log p of all its words.
        score: what would rank it among finished ones, were it to end here.
        fate: what became of it.
        alpha: (Tx,), where the decoder looked when it chose the word; None without attention.
    """

    id: int
    parent: int | None
    token: int
    log_prob: float
    total: float
    score: float
    fate: Fate
    alpha: npt.NDArray[np.float32] | None = field(default=None, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Give the node as a JSON object, alpha to four decimals."""
        alpha = None if self.alpha is None else np.round(self.alpha.astype(np.float64), 4).tolist()
        return {
            "id": self.id,
            "parent": self.parent,
            "token": self.token,
            "log_prob": self.log_prob,
            "total": self.total,
            "score": self.score,
            "fate": self.fate,
            "alpha": alpha,
        }


@dataclass(frozen=True)
class History:
    """The search for one sentence.

    Attributes:
        steps: for each step its nodes; those kept and finished first, by total, then the pruned, likewise.

    Raises:
        DataError: ids are not counted through, or a parent is not a kept node of the step before.
    """

    steps: tuple[tuple[Node, ...], ...]

    def __post_init__(self) -> None:
        before: set[int | None] = {None}
        for number, node in enumerate(self.nodes()):
            if node.id != number:
                raise DataError(f"history: node {number} has the id {node.id}; count them through")
        for t, step in enumerate(self.steps):
            for node in step:
                if node.parent not in before:
                    raise DataError(
                        f"history: node {node.id} of step {t} grew from {node.parent}, which is not a kept node "
                        "of the step before; name one"
                    )
            before = {node.id for node in step if node.fate == "kept"}

    def nodes(self) -> Iterator[Node]:
        """All nodes in their order."""
        for step in self.steps:
            yield from step

    @property
    def finished(self) -> tuple[Node, ...]:
        """The ends of the outputs that were found, the one with the best score first."""
        ends = [node for node in self.nodes() if node.fate == "finished"]
        return tuple(sorted(ends, key=lambda node: -node.score))

    def path(self, node: Node) -> tuple[Node, ...]:
        """The way to a node, from its first word to itself."""
        everyone = tuple(self.nodes())
        way = [node]
        while way[-1].parent is not None:
            way.append(everyone[way[-1].parent])
        return tuple(reversed(way))

    def to_json(self) -> list[list[dict[str, Any]]]:
        """Give the steps as lists of JSON objects."""
        return [[node.to_json() for node in step] for step in self.steps]
