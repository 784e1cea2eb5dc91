"""A bag of words: what a text's words say one by one, in whatever order they stand.

In: labelled texts. Out: a naive Bayes classifier, p(label) Π p(word ∣ label), each word's share of its label's words
with one added to every count. It is linear in the counts of the words, as any weighing of words one by one is.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from regard.worlds import Example


@dataclass(frozen=True)
class BagOfWords:
    """What was counted.

    Attributes:
        texts: how many there were of each label.
        words: how often each word stood in texts of each label.
        known: how many different words there were in all.
    """

    texts: Counter[str]
    words: dict[str, Counter[str]]
    known: int

    @classmethod
    def learn(cls, examples: Sequence[Example]) -> "BagOfWords":
        """Count the words of some labelled texts, at least one."""
        words: dict[str, Counter[str]] = {}
        for example in examples:
            words.setdefault(example.target, Counter()).update(example.source.split())
        known = len(set().union(*words.values()))
        return cls(Counter(example.target for example in examples), words, known)

    def log_joint(self, label: str, text: str) -> float:
        """The logarithm of p(label, text), words no label has left out."""
        counts = self.words[label]
        whole = counts.total() + self.known
        seen = [word for word in text.split() if any(word in each for each in self.words.values())]
        prior = math.log(self.texts[label] / self.texts.total())
        return prior + math.fsum(math.log((counts[word] + 1) / whole) for word in seen)

    def label(self, text: str) -> str:
        """The likeliest label; of equals the first in the alphabet."""
        return max(sorted(self.words), key=lambda label: self.log_joint(label, text))

    def accuracy(self, examples: Sequence[Example]) -> float:
        """The share of texts whose label is the likeliest."""
        return sum(self.label(example.source) == example.target for example in examples) / len(examples)
