"""The trace of a beam search: every partial hypothesis it kept, finished or pruned, step by step.

In: each step's candidates and what became of them (`StepCandidates`). Out: `SearchResult`, one per sentence, with a
`History` where one was recorded: a tree whose nodes are in the order they were made, each naming its parent. Pruned
candidates are part of it, as far as the search considered them. Ids, not text.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from regard.errors import DataError
from regard.search.hypotheses import NEVER, FinishedHypotheses, Flags, Floats, Hypothesis, Ids

Fate = Literal["kept", "finished", "pruned"]
"""kept: it had a place in the beam; finished: it chose EOS; pruned: it was considered, and others were
better."""


class NodeAlternative(NamedTuple):
    """A probable token after the same parent as a node's.

    Attributes:
        id: the word.
        log_prob: the model's, after the same words.
    """

    id: int
    log_prob: float


@dataclass(frozen=True)
class Node:
    """A partial hypothesis, by its last token, and what became of it.

    Attributes:
        id: its place among all nodes of the history, counted from 0.
        parent: the id of the partial hypothesis it continues, a kept one of the step before; None in the first step.
        token: the word it added.
        log_prob: log p of that word, given its parent and the source.
        total: log p of all its words.
        score: its score if it ended here.
        fate: what became of it.
        alternatives: the most probable words after the same parent, best first; its own may be among them.
        alpha: (Tx,), the attention when the word was chosen; None without attention.
    """

    id: int
    parent: int | None
    token: int
    log_prob: float
    total: float
    score: float
    fate: Fate
    alternatives: tuple[NodeAlternative, ...] = ()
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
            "alternatives": [each._asdict() for each in self.alternatives],
            "alpha": alpha,
        }


@dataclass(frozen=True)
class History:
    """The search for one sentence.

    Attributes:
        steps: for each step its nodes; those kept and finished first, then those pruned, each by total.

    Raises:
        DataError: ids are not consecutive, or a parent is not a kept node of the step before.
    """

    steps: tuple[tuple[Node, ...], ...]

    def __post_init__(self) -> None:
        for number, node in enumerate(self.nodes()):
            if node.id != number:
                raise DataError(f"history: node {number} has the id {node.id}; number them consecutively")
        before: set[int | None] = {None}
        for t, step in enumerate(self.steps):
            for node in step:
                if node.parent not in before:
                    raise DataError(
                        f"history: node {node.id} of step {t} has the parent {node.parent}, which is not a kept node "
                        "of the step before; name one"
                    )
            before = {node.id for node in step if node.fate == "kept"}

    def nodes(self) -> Iterator[Node]:
        """All nodes in their order."""
        for step in self.steps:
            yield from step

    @property
    def finished(self) -> tuple[Node, ...]:
        """The last nodes of the finished hypotheses, best score first."""
        ends = [node for node in self.nodes() if node.fate == "finished"]
        return tuple(sorted(ends, key=lambda node: -node.score))

    def path_to(self, node: Node) -> tuple[Node, ...]:
        """A partial hypothesis from its first word."""
        nodes = tuple(self.nodes())
        path = [node]
        while (parent := path[-1].parent) is not None:
            path.append(nodes[parent])
        return tuple(reversed(path))

    def to_json(self) -> dict[str, Any]:
        """Give all nodes as a JSON object, step by step."""
        return {"steps": [[node.to_json() for node in step] for step in self.steps]}


@dataclass(frozen=True)
class SearchResult:
    """The best outputs of one sentence.

    Attributes:
        hypotheses: best first.
        history: the search that found them, where it was recorded.
    """

    hypotheses: tuple[Hypothesis, ...]
    history: History | None = None

    @property
    def best(self) -> Hypothesis:
        """The hypothesis with the best score."""
        return self.hypotheses[0]


class StepCandidates(NamedTuple):
    """One step of a beam, as it was decided. A candidate's place is row · k + its rank in that row.

    Attributes:
        step: how many words there were.
        sentences: (B,).
        totals: (B, slots · k), log p of every candidate.
        tokens: (R, k), their words.
        log_probs: (R, k), log p of these.
        alpha: (R, Tx), the attention of this step; None without attention.
        covered: (R, Tx), Σ alpha up to this step; None without a coverage penalty.
        chosen: (B, K), the places of those chosen.
        kept: (B, K), which of them have a place in the beam.
        ended: (B, K), which of them have chosen EOS.
    """

    step: int
    sentences: Ids
    totals: Floats
    tokens: Ids
    log_probs: Floats
    alpha: Floats | None
    covered: Floats | None
    chosen: Ids
    kept: Flags
    ended: Flags


class HistoryRecorder:
    """Records the histories of all sentences as the search goes on.

    Args:
        finished: scores hypotheses.
        source_lengths: (B,), real tokens.
        width: K, also the most pruned candidates recorded per step.
    """

    def __init__(self, finished: FinishedHypotheses, source_lengths: Ids, width: int) -> None:
        self._finished, self._source_lengths, self._width = finished, source_lengths, width
        self._steps: list[list[tuple[Node, ...]]] = [[] for _ in source_lengths]
        self._num_nodes = [0] * len(source_lengths)
        self._node_by_row: list[int | None] = [None] * len(source_lengths)
        self._node_by_place: dict[int, int] = {}

    def add(self, candidates: StepCandidates) -> None:
        """Record a step."""
        self._node_by_place = {}
        width = candidates.totals.shape[1]
        by_sentence = zip(candidates.chosen, candidates.kept, candidates.ended, strict=True)
        for k, (b, decided) in enumerate(zip(candidates.sentences.tolist(), by_sentence, strict=True)):
            fates: list[tuple[int, Fate]] = []
            for place, kept, ended in zip(*decided, strict=True):
                if kept or ended:
                    fates.append((int(place), "finished" if ended else "kept"))
            taken = {place for place, _ in fates}
            by_total = [k * width + int(j) for j in np.argsort(-candidates.totals[k], kind="stable")]
            totals = candidates.totals.reshape(-1)
            pruned = [place for place in by_total if place not in taken and totals[place] > NEVER]
            fates += [(place, "pruned") for place in pruned[: self._width]]
            self._steps[b].append(tuple(self._node(candidates, b, place, fate) for place, fate in fates))

    def advance(self, places: Ids) -> None:
        """The next step's rows continue these places, (R′,)."""
        self._node_by_row = [self._node_by_place.get(place) for place in places.tolist()]

    def histories(self) -> list[History]:
        """Of all sentences."""
        return [History(tuple(steps)) for steps in self._steps]

    def _node(self, candidates: StepCandidates, b: int, place: int, fate: Fate) -> Node:
        row, rank = divmod(place, candidates.tokens.shape[1])
        real = slice(int(self._source_lengths[b]))
        covered = None if candidates.covered is None else candidates.covered[row, real]
        total = float(candidates.totals.reshape(-1)[place])
        alternatives = zip(candidates.tokens[row].tolist(), candidates.log_probs[row].tolist(), strict=True)
        node = Node(
            self._num_nodes[b],
            self._node_by_row[row],
            int(candidates.tokens[row, rank]),
            float(candidates.log_probs[row, rank]),
            total,
            self._finished.score(total, candidates.step + 1, covered),
            fate,
            tuple(NodeAlternative(*each) for each in alternatives if each[1] > NEVER),
            None if candidates.alpha is None else candidates.alpha[row, real].astype(np.float32),
        )
        self._node_by_place[place] = node.id
        self._num_nodes[b] += 1
        return node
