"""What a search went through: every beginning it kept, finished or gave up, step by step, for one sentence.

Filled by the search when it is asked to; ids, not text. Plain data: a tree whose nodes stand in the order they were
made, each naming its parent. What was weighed and not kept is in it as well, as far as the search looked.

What a search hands back for one sentence.

The history of a search as it grows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from regard.errors import DataError
from regard.search.constraints import Flags
from regard.search.hypotheses import Finished, Floats, Hypothesis
from regard.search.vocabulary_map import Ids

Fate = Literal["kept", "finished", "pruned"]
"""kept: the search went on from it, or could have; finished: it chose the end mark; pruned: it was weighed, and
others were better."""


class Alternative(NamedTuple):
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
    alternatives: tuple[Alternative, ...] = ()
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


@dataclass(frozen=True)
class SearchResult:
    """The best outputs of one sentence.

    Attributes:
        hypotheses: best first.
        history: how they were found, where it was asked for.
    """

    hypotheses: tuple[Hypothesis, ...]
    history: History | None = None

    @property
    def best(self) -> Hypothesis:
        """The first of them."""
        return self.hypotheses[0]


class Seen(NamedTuple):
    """Where the decoder looked.

    Attributes:
        alpha: at this step, (R, Tx); None without attention.
        covered: Σ alpha up to this step, (R, Tx); None without a coverage penalty.
    """

    alpha: Floats | None
    covered: Floats | None


class Weighed(NamedTuple):
    """One step of a beam, as it was decided. A candidate's place is row · k + its rank in that row.

    Attributes:
        step: how many words there were.
        sentences: (B,).
        totals: (B, slots · k), log p of every candidate.
        tokens: (R, k), their words.
        log_probs: (R, k), log p of these.
        seen: where the decoder looked.
        chosen: (B, K), the places of those chosen.
        kept: (B, K), which of them go on.
        ended: (B, K), which of them have chosen the end mark.
    """

    step: int
    sentences: Ids
    totals: Floats
    tokens: Ids
    log_probs: Floats
    seen: Seen
    chosen: Ids
    kept: Flags
    ended: Flags


class Tree:
    """The histories of all sentences.

    Args:
        finished: knows how hypotheses rank.
        source_lengths: (B,), real tokens.
        width: K, also how many of those that found no place are kept in mind.
    """

    def __init__(self, finished: Finished, source_lengths: Ids, width: int) -> None:
        self._finished, self._source_lengths, self._width = finished, source_lengths, width
        self._steps: list[list[tuple[Node, ...]]] = [[] for _ in source_lengths]
        self._number = [0] * len(source_lengths)
        self._of_row: list[int | None] = [None] * len(source_lengths)
        self._of_place: dict[int, int] = {}

    def add(self, weighed: Weighed) -> None:
        """Take in a step."""
        self._of_place = {}
        width = weighed.totals.shape[1]
        for k, b in enumerate(weighed.sentences.tolist()):
            fates: list[tuple[int, Fate]] = []
            for place, kept, ended in zip(weighed.chosen[k], weighed.kept[k], weighed.ended[k], strict=True):
                if kept or ended:
                    fates.append((int(place), "finished" if ended else "kept"))
            taken = {place for place, _ in fates}
            by_total = [k * width + int(j) for j in np.argsort(-weighed.totals[k], kind="stable")]
            pruned = [place for place in by_total if place not in taken and self._real(weighed, place)]
            fates += [(place, "pruned") for place in pruned[: self._width]]
            self._steps[b].append(tuple(self._node(weighed, b, place, fate) for place, fate in fates))

    def go_on(self, places: Ids) -> None:
        """The next step's rows go on from these places, (R′,)."""
        self._of_row = [self._of_place.get(place) for place in places.tolist()]

    def histories(self) -> list[History]:
        """All sentences' histories."""
        return [History(tuple(steps)) for steps in self._steps]

    @staticmethod
    def _real(weighed: Weighed, place: int) -> bool:
        return bool(weighed.totals.reshape(-1)[place] > float("-inf"))

    def _node(self, weighed: Weighed, b: int, place: int, fate: Fate) -> Node:
        row, rank = divmod(place, weighed.tokens.shape[1])
        real = slice(int(self._source_lengths[b]))
        covered = None if weighed.seen.covered is None else weighed.seen.covered[row, real]
        total = float(weighed.totals.reshape(-1)[place])
        rivals = zip(weighed.tokens[row].tolist(), weighed.log_probs[row].tolist(), strict=True)
        node = Node(
            self._number[b],
            self._of_row[row],
            int(weighed.tokens[row, rank]),
            float(weighed.log_probs[row, rank]),
            total,
            self._finished.score(total, weighed.step + 1, covered),
            fate,
            tuple(Alternative(*rival) for rival in rivals if rival[1] > float("-inf")),
            None if weighed.seen.alpha is None else weighed.seen.alpha[row, real].astype(np.float32),
        )
        self._of_place[place] = node.id
        self._number[b] += 1
        return node
