"""Whether attention is on relevant words, or merely on near ones.

In: attention between the words of sentences, and which of them belong together. Out: `Lift`, the attention to relevant
words relative to comparable other words: those at the same step and distance, or the same word there (the strata). The
interval resamples sentences, not pairs of words, because the pairs of one sentence are not independent. Nothing here
knows models.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError
from regard.lab.measures.statistics import Spread
from regard.text.links import Links

_RESAMPLINGS = 500
"""Bootstrap samples for an interval."""


@dataclass(frozen=True, eq=False)
class WordPairs:
    """Attention of words to earlier words, one entry per pair, over all sentences.

    Attributes:
        attention: of the later word to the earlier one.
        relevant: whether the two belong together.
        sentence: the number of their sentence.
        step: the later word's position, counted from 0.
        distance: in words, between the two.
        word: the earlier word, as a number.
    """

    attention: NDArray[np.float64]
    relevant: NDArray[np.bool_]
    sentence: NDArray[np.int64]
    step: NDArray[np.int64]
    distance: NDArray[np.int64]
    word: NDArray[np.int64]

    @property
    def by_place(self) -> NDArray[np.int64]:
        """Strata of the same step and distance."""
        return self.step * 1000 + self.distance

    @property
    def by_word(self) -> NDArray[np.int64]:
        """Strata of the same word at the same step and distance: only the attending word differs."""
        return self.word * 1_000_000 + self.by_place

    def with_choice(self) -> "WordPairs":
        """Only the steps that have a relevant word to attend to."""
        row = self.sentence * 1000 + self.step
        return self._select(np.isin(row, row[self.relevant]))

    def beyond(self, distance: int) -> "WordPairs":
        """Only pairs that are further apart than this distance."""
        return self._select(self.distance > distance)

    def _select(self, selected: NDArray[np.bool_]) -> "WordPairs":
        return WordPairs(*(getattr(self, field.name)[selected] for field in fields(self)))

    @property
    def word_before(self) -> float:
        """The mean attention to the word just before, where there are at least two to choose from."""
        chosen = (self.distance == 1) & (self.step >= 2)
        return float(self.attention[chosen].mean()) if chosen.any() else float("nan")


@dataclass(frozen=True)
class Lift:
    """Attention to relevant words relative to others of the same strata.

    Attributes:
        value: attention to the relevant words over attention to the others; 1 if relevance plays no part.
        low: the lower end of the 95 % bootstrap interval.
        high: its upper end.
        pairs: relevant pairs that have others to be compared with.
    """

    value: float
    low: float
    high: float
    pairs: int

    def to_json(self) -> dict[str, Any]:
        """The fields, as a JSON object."""
        return asdict(self)


def collect_pairs(
    alphas: Sequence[NDArray[np.floating]], lines: Sequence[Sequence[str]], links: Sequence[Links]
) -> WordPairs:
    """Collect the attention of every word to every earlier one.

    The last word of a line, its full stop, is left out: nothing is predicted after it.

    Args:
        alphas: of each line (W, W): row t is the attention of word t.
        lines: the W words of each.
        links: of each, pairs (earlier, later) that belong together.

    Raises:
        DataError: attention or links do not fit their line.
    """
    numbers: dict[str, int] = {}
    rows: list[tuple[float, bool, int, int, int, int]] = []
    for k, (alpha, words, own) in enumerate(zip(alphas, lines, links, strict=True)):
        if alpha.shape != (len(words), len(words)) or any(later >= len(words) for _, later in own):
            raise DataError(
                f"line {k} ({' '.join(words)!r}): attention of shape {alpha.shape} or a link beyond its "
                f"{len(words)} words; give a row and a column for each word"
            )
        for step in range(1, len(words) - 1):
            for place in range(step):
                word = numbers.setdefault(words[place], len(numbers))
                attention = float(alpha[step, place])
                rows.append((attention, (place, step) in own, k, step, step - place, word))
    attention_column, relevant, *others = zip(*rows, strict=True) if rows else ((),) * 6
    return WordPairs(
        np.array(attention_column, dtype=np.float64),
        np.array(relevant, dtype=bool),
        *(np.array(column, dtype=np.int64) for column in others),
    )


def shift_to_prediction(links: Links) -> Links:
    """The links of each word, given to the word before it, at whose step it is predicted."""
    return frozenset((earlier, later - 1) for earlier, later in links if earlier < later - 1)


def lift(pairs: WordPairs, strata: NDArray[np.int64], *, seed: int = 0) -> Lift:
    """Compare relevant words with the others of their strata.

    In a stratum s with n_s relevant pairs of mean attention r_s and others of mean attention o_s, the lift is
    Σ n_s r_s / Σ n_s o_s over the strata that have both.

    Args:
        pairs: all of them.
        strata: one number per entry; entries of equal numbers are compared.
        seed: of the resampling.
    """
    shared = np.isin(strata, np.intersect1d(strata[pairs.relevant], strata[~pairs.relevant]))
    if not shared.any():
        return Lift(np.nan, np.nan, np.nan, 0)
    _, stratum = np.unique(strata[shared], return_inverse=True)
    sentence, attention, relevant = pairs.sentence[shared], pairs.attention[shared], pairs.relevant[shared]
    num_sentences = int(pairs.sentence.max()) + 1
    sums = []
    for chosen in (relevant, ~relevant):
        for weight in (attention, np.ones_like(attention)):
            table = np.zeros((num_sentences, int(stratum.max()) + 1))
            np.add.at(table, (sentence[chosen], stratum[chosen]), weight[chosen])
            sums.append(table)
    [value] = _ratios([table.sum(axis=0, keepdims=True) for table in sums])
    rng = np.random.default_rng(seed)
    uniform = np.full(num_sentences, 1 / num_sentences)
    resampled = rng.multinomial(num_sentences, uniform, size=_RESAMPLINGS).astype(float)
    values = _ratios([resampled @ table for table in sums])
    low, high = np.nanquantile(values, [0.025, 0.975])
    return Lift(float(value), float(low), float(high), int(relevant.sum()))


def _ratios(sums: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Σ n_s r_s / Σ n_s o_s in each row of: relevant attention, its number, others' attention, its number."""
    relevant, number, others, number_others = sums
    both = (number > 0) & (number_others > 0)
    mean = np.divide(others, number_others, out=np.zeros_like(others), where=both)
    expected = (number * mean * both).sum(axis=1)
    ratios = np.full(len(expected), np.nan)
    np.divide((relevant * both).sum(axis=1), expected, out=ratios, where=expected > 0)
    return ratios


def attention_by_distance(pairs: WordPairs, farthest: int) -> dict[str, list[float]]:
    """Mean attention to relevant and to other words at the distances 1 … `farthest`.

    The others are weighted to have the same distribution over steps as the relevant ones, since after fewer words each
    gets more attention; at each distance the ratio of the two is the lift there. Steps with only one kind are left out;
    if none has both, the means are nan.
    """
    means: dict[str, list[float]] = {"relevant": [], "other": []}
    for distance in range(1, farthest + 1):
        number, attention, expected = 0, 0.0, 0.0
        there = pairs.distance == distance
        for step in np.unique(pairs.step[there]):
            here = there & (pairs.step == step)
            relevant = pairs.attention[here & pairs.relevant]
            others = pairs.attention[here & ~pairs.relevant]
            if len(relevant) and len(others):
                number += len(relevant)
                attention += float(relevant.sum())
                expected += len(relevant) * float(others.mean())
        means["relevant"].append(attention / number if number else float("nan"))
        means["other"].append(expected / number if number else float("nan"))
    return means


def mean_lift(models: Sequence[Mapping[str, Any]], kind: str, comparison: str) -> float:
    """A lift, mean over the seeds.

    Args:
        models: one per seed: lifts as JSON, by kind and comparison.
        kind: trained or untrained.
        comparison: which of the lifts.
    """
    return Spread.of(model[kind][comparison]["value"] for model in models).mean
