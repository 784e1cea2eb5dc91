"""Baselines: what can be said without a network, by counting or by looking for the nearest example.

In: a dataset's examples, or its sizes. Out: answers, one per question, or how often the best guess is right. None of
them knows order or context; that is their purpose.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import TypeVar

import numpy as np

from regard.datasets import Example
from regard.datasets.memory import VALUES

Question = TypeVar("Question", bound=Hashable)
Answer = TypeVar("Answer", bound=Hashable)


def most_frequent(answers: Iterable[Answer]) -> Answer:
    """The most frequent answer; of several, the one that came first."""
    return Counter(answers).most_common(1)[0][0]


def most_frequent_by_question(pairs: Iterable[tuple[Question, Answer]]) -> dict[Question, Answer]:
    """For each question its most frequent answer."""
    answers: defaultdict[Question, list[Answer]] = defaultdict(list)
    for question, answer in pairs:
        answers[question].append(answer)
    return {question: most_frequent(given) for question, given in answers.items()}


def nearest_captions(examples: Sequence[Example], features: Sequence[Sequence[float]]) -> list[str]:
    """For each vector the caption of the nearest example (Euclidean distance)."""
    known = np.array([example.features for example in examples])  # (N, f)
    squares = (known**2).sum(axis=1)
    return [examples[int(np.argmin(squares - 2 * known @ np.array(row)))].target for row in features]


def word_for_word(examples: Sequence[Example], sources: Iterable[str]) -> list[str]:
    """Translate each word by its most frequent translation, in the order of the source.

    Args:
        examples: pairs with gold links: a word's translation is what it is surely linked to, or nothing.
        sources: to be translated; an unseen word is copied.
    """
    pairs = []
    for example in examples:
        assert example.gold is not None, "the dictionary comes from gold links"
        target = example.target.split()
        for j, word in enumerate(example.source.split()):
            pairs.append((word, " ".join(target[i] for k, i in sorted(example.gold.sure) if k == j)))
    dictionary = most_frequent_by_question(pairs)
    return [" ".join(filter(None, (dictionary.get(w, w) for w in source.split()))) for source in sources]


@dataclass(frozen=True)
class BagOfWords:
    """Naive Bayes, p(label) Π p(word ∣ label), with one added to every count: linear in the counts of the words.

    Attributes:
        texts: the number of texts per label.
        words: the number of occurrences of each word in the texts of each label.
        vocabulary_size: the number of different words.
    """

    texts: Counter[str]
    words: dict[str, Counter[str]]
    vocabulary_size: int

    @classmethod
    def fit(cls, examples: Sequence[Example]) -> "BagOfWords":
        """Count the words of labelled texts, at least one."""
        words: dict[str, Counter[str]] = {}
        for example in examples:
            words.setdefault(example.target, Counter()).update(example.source.split())
        vocabulary_size = len(set().union(*words.values()))
        return cls(Counter(example.target for example in examples), words, vocabulary_size)

    def log_joint(self, label: str, text: str) -> float:
        """The logarithm of p(label, text), without the words that no label has."""
        counts = self.words[label]
        total = counts.total() + self.vocabulary_size
        seen = [word for word in text.split() if any(word in each for each in self.words.values())]
        prior = math.log(self.texts[label] / self.texts.total())
        return prior + math.fsum(math.log((counts[word] + 1) / total) for word in seen)

    def label(self, text: str) -> str:
        """The most probable label; of equals the first in alphabetical order."""
        return max(sorted(self.words), key=lambda label: self.log_joint(label, text))

    def accuracy(self, examples: Sequence[Example]) -> float:
        """The share of texts whose label is the most probable one."""
        return sum(self.label(example.source) == example.target for example in examples) / len(examples)


def guess_accuracy(pairs: int, values: int = len(VALUES)) -> float:
    """How often, in percent, the most frequent value of a recall line is right: 100 · E[max count] / pairs.

    A model that keeps all values of a line, but not which key each belonged to, can do no better at the first question.

    Args:
        pairs: in the line, at least one; every key is equally likely to be asked for.
        values: how many there are, all equally likely in every pair.
    """
    lines = values**pairs
    # E[max] = Σ_{m ≥ 0} P(max > m)
    expected = sum(Fraction(lines - _lines_with_at_most(m, pairs, values), lines) for m in range(pairs))
    return float(100 * expected / pairs)


def _lines_with_at_most(most: int, pairs: int, values: int) -> int:
    """The number of lines in which no value occurs more than `most` times, by adding one value after another."""
    lines = [1] + [0] * pairs  # by the number of occupied positions
    for _ in range(values):
        lines = [
            sum(lines[taken - k] * comb(pairs - taken + k, k) for k in range(min(most, taken) + 1))
            for taken in range(pairs + 1)
        ]
    return lines[pairs]
