"""Samples of a language model: how diverse they are, whether they follow the model's distribution, and as a tree.

In: lines, counts and probabilities, or a language model and samples of it. Out: plain numbers, and the branches of a
figure. The chain rule, the frequencies and the effect of the temperature are identities, up to rounding and chance.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from regard.plots.figures.sampling_tree import Branch
from regard.tasks.language_model.predictor import LanguageModel
from regard.tasks.language_model.result import Candidate, Sample
from regard.text.specials import EOS

_LONGEST_PROMPT = 20
"""Letters of a prompt that are shown; of a longer one, its end."""
_SHOWN_WORDS = 12


def next_words(
    language_model: LanguageModel, *, prompt: str = "", temperature: float = 1.0
) -> list[Candidate]:
    """Every possible next word, most probable first, with the model's probability and that of being sampled."""
    [sample] = language_model.sample(
        prompt=prompt, temperature=temperature, max_length=1, alternatives=language_model.tokenizer.size
    )
    [step] = sample.steps
    return sorted((step.chosen, *step.alternatives), key=lambda candidate: -candidate.model_probability)


def sampling_tree(
    language_model: LanguageModel, sample: Sample, *, beyond: int = 2, steps: int = 9
) -> Branch:
    """The path of a sample, with the most probable alternative of each step above and the next one below.

    Args:
        language_model: that sampled it, at a temperature of 1.
        sample: with alternatives.
        beyond: the number of words shown after each alternative.
        steps: of the sample that are shown.
    """
    [end] = language_model.tokenizer.tokens([EOS])

    def alternative(candidate: Candidate, before: Sequence[str]) -> Branch:
        following: Sequence[Candidate] = ()
        if candidate.token != end:
            text = " ".join((*sample.prompt.split(), *before, candidate.token))
            following = next_words(language_model, prompt=text)[:beyond]
        after = tuple(Branch(word.token, word.sampling_probability) for word in following)
        return Branch(candidate.token, candidate.sampling_probability, after=after)

    after: tuple[Branch, ...] = ()
    for k in reversed(range(min(steps, len(sample.steps)))):
        step = sample.steps[k]
        chosen = Branch(step.chosen.token, step.chosen.sampling_probability, taken=True, after=after)
        top = sorted(step.alternatives, key=lambda candidate: -candidate.sampling_probability)[:2]
        alternatives = [alternative(candidate, sample.tokens[:k]) for candidate in top]
        after = (*alternatives[:1], chosen, *alternatives[1:])
    prompt = sample.prompt
    if len(prompt) > _LONGEST_PROMPT:
        prompt = "…" + prompt[-_LONGEST_PROMPT:]
    return Branch(prompt, after=after)


def ngrams(line: str, n: int) -> list[tuple[str, ...]]:
    """The n-grams of words of a line."""
    words = line.split()
    return [tuple(words[k : k + n]) for k in range(len(words) - n + 1)]


def distinct_lines(lines: Sequence[str]) -> float:
    """The share of different lines among all; at least one is needed."""
    return len(set(lines)) / len(lines)


def distinct_ngrams(lines: Sequence[str], n: int, among: int) -> float:
    """The share of different n-grams among the first `among` of the lines.

    The more are counted the fewer are new, so shares are comparable only if `among` is the same.

    Args:
        lines: in their order.
        n: words in each.
        among: how many are counted; fewer if there are fewer, nan if there are none.
    """
    counted = [ngram for line in lines for ngram in ngrams(line, n)][:among]
    return len(set(counted)) / len(counted) if counted else math.nan


def entropy(probabilities: Sequence[float]) -> float:
    """−Σ p log₂ p, in bits; a probability of 0 adds nothing."""
    return -math.fsum(p * math.log2(p) for p in probabilities if p > 0)


def apply_temperature(probabilities: Sequence[float], temperature: float) -> list[float]:
    """p^{1/τ} / Σ p^{1/τ}, as it is written; 0 stays 0."""
    powers = [p ** (1 / temperature) if p > 0 else 0.0 for p in probabilities]
    total = math.fsum(powers)
    return [power / total for power in powers]


def total_variation(probabilities: Mapping[str, float], counts: Mapping[str, int]) -> float:
    """½ Σ |p − relative frequency|, from 0 (equal) to 1, over everything that has either."""
    total = sum(counts.values())
    names = probabilities.keys() | counts.keys()
    return 0.5 * math.fsum(
        abs(probabilities.get(name, 0.0) - counts.get(name, 0) / total) for name in sorted(names)
    )


def chance_variation(
    probabilities: Sequence[float], num_samples: int, quantile: float, *, seed: int = 0
) -> tuple[float, float]:
    """The total variation of true samples by chance alone: its mean and a quantile, of 2,000 trials.

    Args:
        probabilities: of the distribution; they sum to 1.
        num_samples: in each trial.
        quantile: such as 0.99.
        seed: of the trials.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    p = p / p.sum()
    trials = np.random.default_rng(seed).multinomial(num_samples, p, size=2000) / num_samples
    variations = 0.5 * np.abs(trials - p).sum(axis=1)
    return float(variations.mean()), float(np.quantile(variations, quantile))


def spearman(x: Sequence[float], y: Sequence[float]) -> float:
    """The rank correlation, equal values sharing their rank: 1 if y always rises with x; nan if one is constant."""
    ranks = [_ranks(each) for each in (x, y)]
    if any(np.ptp(each) == 0 for each in ranks):
        return math.nan
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]


def chain_rule_error(language_model: LanguageModel, samples: Sequence[Sample]) -> dict[str, Any]:
    """Compare Σ_t log p(y_t | y_<t), step by step as sampled, with log p(y) of the whole line, computed at once.

    A sample that is not tokenised as it was sampled is left out: one without an end, or with the mark for unknown
    words.

    Args:
        language_model: that sampled them.
        samples: without a prompt.
    """
    scored = language_model.score([sample.text for sample in samples])
    errors = [
        abs(sample.log_prob - line.log_prob)
        for sample, line in zip(samples, scored, strict=True)
        if sample.tokens == line.tokens
    ]
    return {
        "greatest_difference": max(errors, default=float("nan")),
        "sentences": len(errors),
        "left_out": len(samples) - len(errors),
    }


def compare_first_words(
    language_model: LanguageModel, samples: Sequence[Sample], quantile: float
) -> dict[str, Any]:
    """Count first words, and compare their frequencies with p(y_1).

    Args:
        language_model: that sampled them, at a temperature of 1.
        samples: without a prompt.
        quantile: of the variation by chance alone, for the bound.
    """
    p = {word.token: word.sampling_probability for word in next_words(language_model)}
    counts = Counter(sample.tokens[0] for sample in samples)
    mean, bound = chance_variation(list(p.values()), len(samples), quantile)
    top = list(p)[:_SHOWN_WORDS]
    return {
        "total_variation": total_variation(p, counts),
        "by_chance": mean,
        "bound": bound,
        "words": top,
        "probability": [p[token] for token in top],
        "share": [counts[token] / len(samples) for token in top],
    }


def temperature_error(language_model: LanguageModel, temperatures: Sequence[float]) -> float:
    """The greatest difference between the distribution that first words are sampled from and p^{1/τ} / Σ p^{1/τ}."""
    greatest = 0.0
    for temperature in temperatures:
        words = next_words(language_model, temperature=temperature)
        expected = apply_temperature([word.model_probability for word in words], temperature)
        errors = (abs(p - word.sampling_probability) for p, word in zip(expected, words, strict=True))
        greatest = max(greatest, *errors)
    return greatest
