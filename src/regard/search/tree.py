"""The history of a search as it grows."""

from typing import NamedTuple

import numpy as np

from regard.search.columns import Ids
from regard.search.finished import Finished
from regard.search.history import Fate, History, Node, Rival
from regard.search.record import Floats
from regard.search.rules import Flags


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
            tuple(Rival(*rival) for rival in rivals if rival[1] > float("-inf")),
            None if weighed.seen.alpha is None else weighed.seen.alpha[row, real].astype(np.float32),
        )
        self._of_place[place] = node.id
        self._number[b] += 1
        return node
