"""Whether attention falls on the words that matter, or merely on near ones.

In: attention between the words of sentences, and which of them belong together. Out: `Lift`, how many times the
attention of others like them the relevant words get. "Like them" is said by strata: words at the same step and
distance, or the same word there. Sentences, not pairs of words, are drawn again for the interval,
because pairs of one sentence hang together. Knows nothing of models.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError
from regard.lab.measures.statistics import Spread
from regard.text.links import Links

_DRAWS = 500
"""How often sentences are drawn again."""


@dataclass(frozen=True, eq=False)
class Glances:
    """Attention of words to earlier words, one entry a pair, over all sentences.

    Attributes:
        attention: what the later word gave the earlier one.
        relevant: whether the two belong together.
        sentence: the number of their sentence.
        step: the later word's place, counted from 0.
        distance: how many words the earlier one stands before it.
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
        """Strata of the same word at the same step and distance: what is left is the word that looks."""
        return self.word * 1_000_000 + self.by_place

    def choosing(self) -> "Glances":
        """Only the steps that have something relevant to look at."""
        row = self.sentence * 1000 + self.step
        return self._only(np.isin(row, row[self.relevant]))

    def beyond(self, distance: int) -> "Glances":
        """Only at words that stand farther back than so many."""
        return self._only(self.distance > distance)

    def _only(self, kept: NDArray[np.bool_]) -> "Glances":
        return Glances(*(getattr(self, each.name)[kept] for each in fields(self)))

    @property
    def word_before(self) -> float:
        """The mean attention to the word just before, where there are at least two to choose from."""
        chosen = (self.distance == 1) & (self.step >= 2)
        return float(self.attention[chosen].mean()) if chosen.any() else float("nan")


@dataclass(frozen=True)
class Lift:
    """Relevant words against others of the same strata.

    Attributes:
        value: attention to the relevant ones over attention to the others; 1 where relevance plays no part.
        low: the lower end of the middle 95 % of redrawn values.
        high: their upper end.
        pairs: relevant pairs that have others to be held against.
    """

    value: float
    low: float
    high: float
    pairs: int

    def to_json(self) -> dict[str, Any]:
        """Give the lift as a JSON object."""
        return {"value": self.value, "low": self.low, "high": self.high, "pairs": self.pairs}


def glances_of(
    alphas: Sequence[NDArray[np.floating]], lines: Sequence[Sequence[str]], links: Sequence[Links]
) -> Glances:
    """Collect who looked at whom.

    The last word of a line, its full stop, looks at nothing here: there is nothing left to be said.

    Args:
        alphas: of each line (W, W): row t is where word t looked.
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
                given = float(alpha[step, place])
                rows.append((given, (place, step) in own, k, step, step - place, word))
    attention, relevant, *others = zip(*rows, strict=True) if rows else ((),) * 6
    sentence, step_of, distance, word_of = (np.array(each, dtype=np.int64) for each in others)
    return Glances(
        np.array(attention, dtype=np.float64),
        np.array(relevant, dtype=bool),
        sentence,
        step_of,
        distance,
        word_of,
    )


def of_the_next(links: Links) -> Links:
    """What the word after the newest belongs to, as links of the newest: its step is where that word is predicted."""
    return frozenset((earlier, later - 1) for earlier, later in links if earlier < later - 1)


def lift(glances: Glances, strata: NDArray[np.int64], *, seed: int = 0) -> Lift:
    """Hold relevant words against the others of their strata.

    In a stratum s with n_s relevant pairs of mean attention r_s and others of mean attention o_s, the lift is
    Σ n_s r_s / Σ n_s o_s over the strata that have both.

    Args:
        glances: all of them.
        strata: one number an entry; entries of equal numbers are held against each other.
        seed: of the redrawing.
    """
    shared = np.isin(strata, np.intersect1d(strata[glances.relevant], strata[~glances.relevant]))
    if not shared.any():
        return Lift(np.nan, np.nan, np.nan, 0)
    _, stratum = np.unique(strata[shared], return_inverse=True)
    sentence, attention, relevant = (
        glances.sentence[shared],
        glances.attention[shared],
        glances.relevant[shared],
    )
    num_sentences = int(glances.sentence.max()) + 1
    sums = []
    for chosen in (relevant, ~relevant):
        for weight in (attention, np.ones_like(attention)):
            table = np.zeros((num_sentences, int(stratum.max()) + 1))
            np.add.at(table, (sentence[chosen], stratum[chosen]), weight[chosen])
            sums.append(table)
    [value] = _ratios([table.sum(axis=0, keepdims=True) for table in sums])
    rng = np.random.default_rng(seed)
    again = rng.multinomial(num_sentences, np.full(num_sentences, 1 / num_sentences), size=_DRAWS).astype(
        float
    )
    values = _ratios([again @ table for table in sums])
    low, high = np.nanquantile(values, [0.025, 0.975])
    return Lift(float(value), float(low), float(high), int(relevant.sum()))


def _ratios(sums: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Σ n_s r_s / Σ n_s o_s in each row of: relevant attention, their number, others' attention, their number."""
    given, number, others, number_others = sums
    both = (number > 0) & (number_others > 0)
    mean = np.divide(others, number_others, out=np.zeros_like(others), where=both)
    expected = (number * mean * both).sum(axis=1)
    ratios = np.full(len(expected), np.nan)
    np.divide((given * both).sum(axis=1), expected, out=ratios, where=expected > 0)
    return ratios


def by_distance(glances: Glances, farthest: int) -> dict[str, list[float]]:
    """Mean attention to relevant and to other words at the distances 1 … `farthest`.

    The others are weighted so that they are met at the same steps as the relevant ones, since whoever has read less
    has less to share its attention among; at each distance the ratio of the two is the lift there. Steps that have
    only one kind are left out; where none has both, the means are nan.
    """
    found: dict[str, list[float]] = {"relevant": [], "other": []}
    for distance in range(1, farthest + 1):
        number, given, expected = 0, 0.0, 0.0
        there = glances.distance == distance
        for step in np.unique(glances.step[there]):
            here = there & (glances.step == step)
            relevant = glances.attention[here & glances.relevant]
            others = glances.attention[here & ~glances.relevant]
            if len(relevant) and len(others):
                number += len(relevant)
                given += float(relevant.sum())
                expected += len(relevant) * float(others.mean())
        found["relevant"].append(given / number if number else float("nan"))
        found["other"].append(expected / number if number else float("nan"))
    return found


def mean_lift(found: Sequence[Mapping[str, Any]], kind: str, by: str) -> float:
    """A lift, mean over the seeds.

    Args:
        found: lifts as JSON has them, by kind and by what they are against; one a seed.
        kind: trained or untrained.
        by: which of the lifts.
    """
    return Spread.of(one[kind][by]["value"] for one in found).mean
