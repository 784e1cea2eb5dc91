"""Scores of alignments: the alignment error rate of Och & Ney (2003), and statistics of attention itself.

In: predicted `Links` and annotated `GoldLinks`, one of each per sentence; or alphas (I + 1, J + 1) over words or
tokens, EOS last in both directions. Out: `AlignmentScore`, fractions from 0 to 1, counts summed over the
corpus before they are divided, so that long sentences weigh more; `AttentionStatistics`, without the row of EOS,
which translates nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError
from regard.text.links import GoldLinks, Links


@dataclass(frozen=True, slots=True)
class AlignmentScore:
    """How well links A agree with sure links S and possible links P ⊇ S.

    Attributes:
        aer: 1 − (|A∩S| + |A∩P|) / (|A| + |S|); 0 where both A and S are empty.
        precision: |A∩P| / |A|; 1 where A is empty.
        recall: |A∩S| / |S|; 1 where S is empty.
        num_links: |A|.
        num_sure: |S|.
        num_possible: |P|.
    """

    aer: float
    precision: float
    recall: float
    num_links: int
    num_sure: int
    num_possible: int

    @property
    def f1(self) -> float:
        """2PR / (P + R); 0 where both are 0."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def scores(self) -> dict[str, float]:
        """The rates by their keys in `METRICS`."""
        return {
            "aer": self.aer,
            "alignment_precision": self.precision,
            "alignment_recall": self.recall,
            "alignment_f1": self.f1,
        }


@dataclass(slots=True)
class LinkCounts:
    """What an `AlignmentScore` is computed from, summed pair by pair.

    Attributes:
        num_links: |A|.
        num_sure: |S|.
        num_possible: |P|.
        sure_hits: |A∩S|.
        possible_hits: |A∩P|.
    """

    num_links: int = 0
    num_sure: int = 0
    num_possible: int = 0
    sure_hits: int = 0
    possible_hits: int = 0

    def add(self, predicted: Links, gold: GoldLinks) -> None:
        """Count the links of a pair."""
        self.num_links += len(predicted)
        self.num_sure += len(gold.sure)
        self.num_possible += len(gold.possible)
        self.sure_hits += len(predicted & gold.sure)
        self.possible_hits += len(predicted & gold.possible)

    @property
    def num_errors(self) -> int:
        """Links that are not possible, and sure ones that are missing: what the alignment error rate counts."""
        return self.num_links - self.possible_hits + self.num_sure - self.sure_hits

    def score(self) -> AlignmentScore:
        """The rates of all pairs so far."""
        total = self.num_links + self.num_sure
        return AlignmentScore(
            aer=self.num_errors / total if total else 0.0,
            precision=self.possible_hits / self.num_links if self.num_links else 1.0,
            recall=self.sure_hits / self.num_sure if self.num_sure else 1.0,
            num_links=self.num_links,
            num_sure=self.num_sure,
            num_possible=self.num_possible,
        )


def score_alignments(predicted: Sequence[Links], gold: Sequence[GoldLinks]) -> AlignmentScore:
    """Score the links of a corpus against gold links.

    Args:
        predicted: the links of each sentence.
        gold: the gold links of the same sentences in the same order.

    Raises:
        DataError: the two differ in length.
    """
    if len(predicted) != len(gold):
        raise DataError(
            f"{len(predicted)} sentences have links and {len(gold)} have gold links; "
            "give one line of gold links per sentence, an empty one where there are none"
        )
    counts = LinkCounts()
    for links, annotated in zip(predicted, gold, strict=True):
        counts.add(links, annotated)
    return counts.score()


@dataclass(frozen=True, slots=True)
class AttentionStatistics:
    """How a model attends; each number is None where it is undefined.

    Attributes:
        entropy: mean over target words of −Σ_j α_ij log₂ α_ij, in bits, the EOS column included. 0
            if each target word attends to one token, log₂ of the source length if it attends to all equally.
        coverage: mean over source words of min(1, Σ_i α_ij), the EOS column left out. 1 if the
            weights of each source word add up to at least 1; lower where words are skipped.
        monotonicity: mean over sentences of Kendall's τ-b between target positions and the source words they
            attend to most, the EOS column left out. 1 reads left to right, −1 right to left. Sentences
            with fewer than two target words, or that attend to one source word only, have no order and are
            left out.
        num_sentences: the number of alphas.
    """

    entropy: float | None
    coverage: float | None
    monotonicity: float | None
    num_sentences: int


def attention_statistics(alphas: Iterable[NDArray[np.floating]]) -> AttentionStatistics:
    """Summarise the attention of a corpus.

    Args:
        alphas: one (I + 1, J + 1) per sentence, EOS last in both directions.
    """
    entropies: list[float] = []
    coverages: list[float] = []
    orders: list[float] = []
    num_sentences = 0
    for alpha in alphas:
        num_sentences += 1
        rows = alpha[:-1].astype(np.float64)  # (I, J + 1)
        words = rows[:, :-1]  # (I, J)
        entropies.extend(_entropy(rows).tolist())
        coverages.extend(np.minimum(1.0, words.sum(axis=0)).tolist())
        if words.size and (order := kendall_tau(words.argmax(axis=1))) is not None:
            orders.append(order)
    return AttentionStatistics(_mean(entropies), _mean(coverages), _mean(orders), num_sentences)


def kendall_tau(positions: NDArray[np.integer]) -> float | None:
    """Kendall's τ-b between 0, 1, 2, … and the given positions; None where all of these are tied.

    With n₀ pairs, of which t are tied: (ascending − descending) / √(n₀ (n₀ − t)).

    Args:
        positions: (I,) whole numbers.
    """
    first, second = np.triu_indices(len(positions), k=1)
    steps = np.sign(positions[second].astype(np.int64) - positions[first].astype(np.int64))
    untied = np.count_nonzero(steps)
    if untied == 0:
        return None
    return float(steps.sum() / np.sqrt(len(steps) * untied))


def _entropy(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """−Σ p log₂ p of each row, with 0 log 0 = 0."""
    logs = np.log2(rows, out=np.zeros_like(rows), where=rows > 0)
    entropy: NDArray[np.float64] = np.abs((rows * logs).sum(axis=1))
    return entropy


def _mean(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None
