"""What a language model might have said instead, as a tree.

In: a writer and a sample that it drew. Out: the branches of a picture.

How different some texts are from one another, and whether draws come from the distribution they should.

In: lines, counts, probabilities. Out: plain numbers. Knows nothing of models.

Whether what a language model says is drawn from what it thinks.

In: a writer and samples that it drew. Out: how far the chain rule, the frequencies and the law of temperature are
missed; all three are identities, up to rounding and chance.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from regard.plots.figures.sampling_tree import Branch
from regard.tasks.language_model.predictor import LanguageModel
from regard.tasks.language_model.result import Candidate, Sample, SampleStep
from regard.text.specials import EOS

_LONGEST_BEGINNING = 20
"""Letters of a prompt that are shown; of a longer one, its end."""


def next_words(
    language_model: LanguageModel, *, prompt: str = "", temperature: float = 1.0
) -> list[Candidate]:
    """Every word that may come next, likeliest first, with the model's probability and that of being drawn."""
    [sample] = language_model.sample(
        prompt=prompt, temperature=temperature, max_length=1, alternatives=language_model.tokenizer.size
    )
    [step] = sample.steps
    return sorted((step.chosen, *step.alternatives), key=lambda one: -one.model_probability)


def tree_of(language_model: LanguageModel, sample: Sample, *, beyond: int = 2, steps: int = 9) -> Branch:
    """The way a sample took, at each step its likeliest rival above and the next likeliest below.

    Args:
        language_model: who drew it, at a temperature of 1.
        sample: with alternatives.
        beyond: how many words that might have followed each rival are shown.
        steps: how many of the sample are shown.
    """
    [end] = language_model.tokenizer.tokens([EOS])

    def rival(one: Candidate, before: Sequence[str]) -> Branch:
        following: Sequence[Candidate] = ()
        if one.token != end:
            text = " ".join((*sample.prompt.split(), *before, one.token))
            following = next_words(language_model, prompt=text)[:beyond]
        after = tuple(Branch(word.token, word.sampling_probability) for word in following)
        return Branch(one.token, one.sampling_probability, after=after)

    after: tuple[Branch, ...] = ()
    for k in reversed(range(min(steps, len(sample.steps)))):
        step = sample.steps[k]
        chosen = Branch(step.chosen.token, step.chosen.sampling_probability, taken=True, after=after)
        rivals = [rival(one, sample.tokens[:k]) for one in _rivals(step)]
        after = (*rivals[:1], chosen, *rivals[1:])
    beginning = sample.prompt
    if len(beginning) > _LONGEST_BEGINNING:
        beginning = "…" + beginning[-_LONGEST_BEGINNING:]
    return Branch(beginning, after=after)


def _rivals(step: SampleStep) -> list[Candidate]:
    return sorted(step.alternatives, key=lambda one: -one.sampling_probability)[:2]


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


_SHOWN = 12


def miss_of_the_chain(language_model: LanguageModel, samples: Sequence[Sample]) -> dict[str, Any]:
    """Hold Σ_t log p(y_t | y_<t), step by step as drawn, against log p(y) of the whole line, read at once.

    A sample that is not read back as it was drawn is left out: one that reached no end, or holds the mark for unknown
    words.

    Args:
        language_model: who drew them.
        samples: without a prompt.
    """
    scored = language_model.score([sample.text for sample in samples])
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


def first_words(language_model: LanguageModel, samples: Sequence[Sample], quantile: float) -> dict[str, Any]:
    """Count first words, and hold their shares against p(y_1).

    Args:
        language_model: who drew them, at a temperature of 1.
        samples: without a prompt.
        quantile: of what chance alone would miss, for the bound.
    """
    p = {one.token: one.sampling_probability for one in next_words(language_model)}
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


def miss_of_the_temperature(language_model: LanguageModel, temperatures: Sequence[float]) -> float:
    """The greatest difference between what first words are drawn from and p^{1/τ} / Σ p^{1/τ}, computed plainly."""
    greatest = 0.0
    for temperature in temperatures:
        words = next_words(language_model, temperature=temperature)
        plain = tempered([one.model_probability for one in words], temperature)
        misses = (abs(p - one.sampling_probability) for p, one in zip(plain, words, strict=True))
        greatest = max(greatest, *misses)
    return greatest
