"""Whether what a language model says is drawn from what it thinks.

In: a writer and samples that it drew. Out: how far the chain rule, the frequencies and the law of temperature are
missed; all three are identities, up to rounding and chance.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from regard.lab.measures.alternatives import next_words
from regard.lab.measures.diversity import chance_variation, tempered, total_variation
from regard.output import Sample
from regard.writer import Writer

_SHOWN = 12


def miss_of_the_chain(writer: Writer, samples: Sequence[Sample]) -> dict[str, Any]:
    """Hold Σ_t log p(y_t | y_<t), step by step as drawn, against log p(y) of the whole line, read at once.

    A sample that is not read back as it was drawn is left out: one that reached no end, or holds the mark for unknown
    words.

    Args:
        writer: who drew them.
        samples: without a prompt.
    """
    scored = writer.score([sample.text for sample in samples])
    misses = [
        abs(sample.log_prob - one.log_prob)
        for sample, one in zip(samples, scored, strict=True)
        if sample.tokens == one.tokens
    ]
    return {
        "greatest_difference": max(misses, default=float("nan")),
        "sentences": len(misses),
        "left_out": len(samples) - len(misses),
    }


def first_words(writer: Writer, samples: Sequence[Sample], quantile: float) -> dict[str, Any]:
    """Count first words, and hold their shares against p(y_1).

    Args:
        writer: who drew them, at a temperature of 1.
        samples: without a prompt.
        quantile: of what chance alone would miss, for the bound.
    """
    p = {one.token: one.sampling_probability for one in next_words(writer)}
    counts = Counter(sample.tokens[0] for sample in samples)
    mean, bound = chance_variation(list(p.values()), len(samples), quantile)
    likeliest = list(p)[:_SHOWN]
    return {
        "total_variation": total_variation(p, counts),
        "by_chance": mean,
        "bound": bound,
        "words": likeliest,
        "probability": [p[token] for token in likeliest],
        "share": [counts[token] / len(samples) for token in likeliest],
    }


def miss_of_the_temperature(writer: Writer, temperatures: Sequence[float]) -> float:
    """The greatest difference between what first words are drawn from and p^{1/τ} / Σ p^{1/τ}, computed plainly."""
    greatest = 0.0
    for temperature in temperatures:
        words = next_words(writer, temperature=temperature)
        plain = tempered([one.model_probability for one in words], temperature)
        misses = (abs(p - one.sampling_probability) for p, one in zip(plain, words, strict=True))
        greatest = max(greatest, *misses)
    return greatest
