"""How different some texts are from one another, and whether draws come from the distribution they should.

In: lines, counts, probabilities. Out: plain numbers. Knows nothing of models.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np


def ngrams(line: str, n: int) -> list[tuple[str, ...]]:
    """The runs of n words of a line."""
    words = line.split()
    return [tuple(words[k : k + n]) for k in range(len(words) - n + 1)]


def distinct_lines(lines: Sequence[str]) -> float:
    """The share of different lines among all; at least one is needed."""
    return len(set(lines)) / len(lines)


def distinct_ngrams(lines: Sequence[str], n: int, among: int) -> float:
    """The share of different n-grams among the first `among` of some lines.

    The more are counted the fewer are new, so shares are comparable only where `among` is the same.

    Args:
        lines: in their order.
        n: words in each.
        among: how many are counted; fewer where there are not so many, nan where there are none.
    """
    found = [one for line in lines for one in ngrams(line, n)][:among]
    return len(set(found)) / len(found) if found else math.nan


def entropy(probabilities: Sequence[float]) -> float:
    """−Σ p log₂ p, in bits; a probability of 0 adds nothing."""
    return -math.fsum(p * math.log2(p) for p in probabilities if p > 0)


def tempered(probabilities: Sequence[float], temperature: float) -> list[float]:
    """p^{1/τ} / Σ p^{1/τ}, the plain way; 0 stays 0."""
    powers = [p ** (1 / temperature) if p > 0 else 0.0 for p in probabilities]
    total = math.fsum(powers)
    return [power / total for power in powers]


def total_variation(probabilities: Mapping[str, float], counts: Mapping[str, int]) -> float:
    """½ Σ |p − share of the draws|, from 0 (alike) to 1, over all that has either."""
    draws = sum(counts.values())
    names = probabilities.keys() | counts.keys()
    return 0.5 * math.fsum(
        abs(probabilities.get(name, 0.0) - counts.get(name, 0) / draws) for name in sorted(names)
    )


def chance_variation(
    probabilities: Sequence[float], draws: int, quantile: float, *, seed: int = 0
) -> tuple[float, float]:
    """The total variation that chance alone gives `draws` true draws: its mean and a quantile, of 2,000 trials.

    Args:
        probabilities: what is drawn from; they sum to 1.
        draws: how many.
        quantile: such as 0.99.
        seed: of the trials.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    p = p / p.sum()
    trials = np.random.default_rng(seed).multinomial(draws, p, size=2000) / draws
    found = 0.5 * np.abs(trials - p).sum(axis=1)
    return float(found.mean()), float(np.quantile(found, quantile))


def spearman(x: Sequence[float], y: Sequence[float]) -> float:
    """The correlation of ranks, equal values sharing theirs: 1 where y always rises with x; nan where one is flat."""
    ranks = [_ranks(each) for each in (x, y)]
    if any(np.ptp(each) == 0 for each in ranks):
        return math.nan
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]
