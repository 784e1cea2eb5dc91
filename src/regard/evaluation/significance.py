"""Whether two systems differ on one test set: paired bootstrap resampling and approximate randomisation.

In: the outputs of two systems for the same lines, or for each line the counts that a score is computed from. Out: a
`PairedScore` per metric: both scores with confidence intervals, and the p-values of both tests. BLEU, chrF and TER are
counted by sacrebleu. The tests are sacrebleu's too, with its resamples, but for ties: a difference equal to the
observed one counts as one as large (Riezler & Maxwell 2005). Otherwise two equal systems would differ with
p = 1 / 10,001. Knows no models.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.evaluation.metrics import text_metrics
from regard.evaluation.text import Lines, Rate, Sacrebleu, TextOptions, check_parallel, ratio

Counts = NDArray[np.float64]
"""What a score is computed from, (N, S): a row per line, summed over lines."""

NUM_RESAMPLES = 1_000
"""Of paired bootstrap resampling, by default."""
NUM_SHUFFLES = 10_000
"""Of approximate randomisation, by default."""
SIGNIFICANT = 0.05
"""A difference is called significant if both tests give a p-value below this."""

_SEED = 12345  # sacrebleu's default, so that both count the same resamples
_CHUNK = 500  # shuffles that are summed together
_ROUNDING = 1e-9  # of scores up to 100, computed in float64 from counts summed in another order


@dataclass(frozen=True)
class PairedScore:
    """One score of two systems on the same lines.

    Attributes:
        scores: of the whole test set.
        means: over the bootstrap's resamples.
        margins: half the width of the 95 % confidence interval around each mean.
        p_bootstrap: the probability of a difference as large as this one if there were none, by paired bootstrap
            resampling.
        p_randomization: the same by approximate randomisation.
    """

    scores: tuple[float, float]
    means: tuple[float, float]
    margins: tuple[float, float]
    p_bootstrap: float
    p_randomization: float

    @property
    def difference(self) -> float:
        """The second score minus the first."""
        return self.scores[1] - self.scores[0]

    @property
    def is_significant(self) -> bool:
        """Whether both tests say that the difference is not chance."""
        return self.difference != 0 and max(self.p_bootstrap, self.p_randomization) < SIGNIFICANT

    def to_json(self) -> dict[str, Any]:
        """The scores and tests as a JSON object."""
        return {
            "scores": list(self.scores),
            "difference": self.difference,
            "means": list(self.means),
            "margins": list(self.margins),
            "p_bootstrap": self.p_bootstrap,
            "p_randomization": self.p_randomization,
            "significant": self.is_significant,
        }


def paired_bootstrap(
    first: Counts, second: Counts, score: Callable[[Counts], float], num_resamples: int = NUM_RESAMPLES
) -> tuple[tuple[float, float], tuple[float, float], float]:
    """Paired bootstrap resampling (Koehn 2004): score test sets of the same size, sampled with replacement.

    With d the difference of a resample, d̄ their mean and D the difference of the whole test set, the p-value is the
    share of resamples with |d| − mean |d| ≥ |D|, one added to both counts.

    Args:
        first: counts of the first system, (N, S).
        second: of the second, for the same lines, (N, S).
        score: a sum of counts, (S,) → the score.
        num_resamples: how many test sets.

    Returns:
        The means, the margins of the 95 % confidence intervals, and the p-value.
    """
    rows = np.random.default_rng(_SEED).choice(len(first), size=(num_resamples, len(first)), replace=True)
    first_scores = np.array([score(first[row].sum(axis=0)) for row in rows])
    second_scores = np.array([score(second[row].sum(axis=0)) for row in rows])
    observed = abs(score(first.sum(axis=0)) - score(second.sum(axis=0)))
    differences = np.abs(second_scores - first_scores)
    p = _p_value(differences - differences.mean(), observed)
    means = float(first_scores.mean()), float(second_scores.mean())
    return means, (_margin(first_scores), _margin(second_scores)), p


def approximate_randomization(
    first: Counts, second: Counts, score: Callable[[Counts], float], num_shuffles: int = NUM_SHUFFLES
) -> float:
    """Approximate randomisation (Riezler & Maxwell 2005): swap the two systems' outputs at random lines.

    The p-value is the share of shuffles whose difference is at least that of the whole test set, one added to both
    counts; arguments as for `paired_bootstrap`.
    """
    swapped = np.random.default_rng(_SEED).integers(2, size=(num_shuffles, len(first)), dtype=bool)
    total = first.sum(axis=0) + second.sum(axis=0)  # (S,)
    differences = []
    for start in range(0, num_shuffles, _CHUNK):
        chosen = swapped[start : start + _CHUNK].astype(np.float64)  # (shuffles, N)
        sums = chosen @ first + (1 - chosen) @ second  # (shuffles, S)
        differences += [abs(score(one) - score(other)) for one, other in zip(sums, total - sums, strict=True)]
    observed = abs(score(first.sum(axis=0)) - score(second.sum(axis=0)))
    return _p_value(np.array(differences), observed)


def _p_value(differences: NDArray[np.float64], observed: float) -> float:
    """The share of differences that are as large as the observed one, which counts itself."""
    return (int((differences >= observed - _ROUNDING).sum()) + 1) / (len(differences) + 1)


def _margin(scores: NDArray[np.float64]) -> float:
    """Half the width of the interval without the lowest and the highest fortieth."""
    ordered = np.sort(scores)
    cut = len(ordered) // 40
    return float(ordered[len(ordered) - cut - 1] - ordered[cut]) / 2


def compare_counts(
    first: Sequence[tuple[float, float]],
    second: Sequence[tuple[float, float]],
    *,
    num_resamples: int = NUM_RESAMPLES,
    num_shuffles: int = NUM_SHUFFLES,
) -> PairedScore:
    """Test a rate, Σ numerators / Σ denominators.

    Args:
        first: numerator and denominator of each line, of the first system.
        second: of the second.
        num_resamples: of paired bootstrap resampling.
        num_shuffles: of approximate randomisation.
    """
    systems = np.array(first, dtype=np.float64), np.array(second, dtype=np.float64)  # (N, 2) each
    return _compare(
        *systems, lambda totals: ratio(float(totals[0]), float(totals[1])), num_resamples, num_shuffles
    )


def _compare(
    first: Counts, second: Counts, score: Callable[[Counts], float], num_resamples: int, num_shuffles: int
) -> PairedScore:
    means, margins, p_bootstrap = paired_bootstrap(first, second, score, num_resamples)
    p_randomization = approximate_randomization(first, second, score, num_shuffles)
    whole = score(first.sum(axis=0)), score(second.sum(axis=0))
    return PairedScore(whole, means, margins, p_bootstrap, p_randomization)


def compare_texts(
    first: Lines,
    second: Lines,
    references: Lines,
    options: TextOptions,
    *,
    num_resamples: int = NUM_RESAMPLES,
    num_shuffles: int = NUM_SHUFFLES,
) -> dict[str, PairedScore]:
    """Test every metric of text that applies, by its key in `METRICS`.

    Args:
        first: the first system's output, one line per sentence.
        second: the second's, in the same order.
        references: one line per sentence.
        options: how text is compared.
        num_resamples: of paired bootstrap resampling.
        num_shuffles: of approximate randomisation.

    Raises:
        DataError: no lines, or a different number of them.
    """
    check_parallel(first=first, second=second, references=references)
    if options.lowercase:
        first, second, references = (
            [line.lower() for line in lines] for lines in (first, second, references)
        )
    compared: dict[str, PairedScore] = {}
    for key, metric in text_metrics(options).items():
        if isinstance(metric.function, Sacrebleu):
            compared[key] = _compare_published(
                metric.function.build(options), first, second, references, num_resamples, num_shuffles
            )
        elif isinstance(metric.function, Rate):
            compared[key] = compare_counts(
                metric.function.by_sentence(first, references, options),
                metric.function.by_sentence(second, references, options),
                num_resamples=num_resamples,
                num_shuffles=num_shuffles,
            )
    return compared


def _compare_published(
    metric: Any, first: Lines, second: Lines, references: Lines, num_resamples: int, num_shuffles: int
) -> PairedScore:
    """Test a metric of sacrebleu, by the counts that its own tests add up."""
    counts = [
        np.array(metric._extract_corpus_statistics(system, [references]), dtype=np.float64)  # (N, S)
        for system in (first, second)
    ]

    def score(totals: Counts) -> float:
        return float(metric._compute_score_from_stats(totals.tolist()).score)

    return _compare(counts[0], counts[1], score, num_resamples, num_shuffles)


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact test of McNemar (1947) for two systems with right and wrong answers, two-sided.

    p = min(1, 2 Σ_{k ≤ min(b, c)} C(b + c, k) / 2^{b + c}).

    Args:
        only_first: b, how many answers only the first system has right.
        only_second: c, how many only the second has right.
    """
    total = only_first + only_second
    tail = sum(math.comb(total, k) for k in range(min(only_first, only_second) + 1))
    return float(min(1, 2 * tail / 2**total))
