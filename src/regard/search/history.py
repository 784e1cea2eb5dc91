"""What a search went through: every beginning it kept, finished or gave up, step by step, for one sentence.

Filled by the search when it is asked to; ids, not text. Plain data: a tree whose nodes stand in the order they were
made, each naming its parent. What was weighed and not kept is in it as well, as far as the search looked.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from regard.errors import DataError

Fate = Literal["kept", "finished", "pruned"]
"""kept: the search went on from it, or could have; finished: it chose the end mark; pruned: it was weighed, and
others were better."""


class Rival(NamedTuple):
    """A word that might have stood in a node's place.

    Attributes:
        id: the word.
        log_prob: the model's, after the same words.
    """

    id: int
    log_prob: float


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
        alternatives: the likeliest words after the same parent, best first; its own may be among them.
        alpha: (Tx,), where the decoder looked when it chose the word; None without attention.
    """

    id: int
    parent: int | None
    token: int
    log_prob: float
    total: float
    score: float
    fate: Fate
    alternatives: tuple[Rival, ...] = ()
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
            "alternatives": [rival._asdict() for rival in self.alternatives],
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
        for number, node in enumerate(self.nodes()):
            if node.id != number:
                raise DataError(f"history: node {number} has the id {node.id}; count them through")
        before: set[int | None] = {None}
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

    def way_to(self, node: Node) -> tuple[Node, ...]:
        """A beginning from its first word."""
        everyone = tuple(self.nodes())
        way = [node]
        while (parent := way[-1].parent) is not None:
            way.append(everyone[parent])
        return tuple(reversed(way))

    def to_json(self) -> dict[str, Any]:
        """Nested plain values, as `json.dumps` takes them."""
        return {"steps": [[node.to_json() for node in step] for step in self.steps]}
