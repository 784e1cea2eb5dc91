"""The world of a newsroom: short news for a language model, each line with the words that belong together.

In: sizes and a seed. Out: splits of lines such as ``The FBI is chasing a criminal on the run .`` What a word may be
hangs on words before it, often far before: verbs agree with their subjects across whatever stands between, particles
with their verbs, pronouns with their nouns, and what is done with who does it. A line's gold links say which words
those are, so that it can be measured whether a reader looks at them.
"""

import random

from regard.text.links import GoldLinks
from regard.worlds.filling import EXTRA, fill, split_of
from regard.worlds.newsroom.sentences import write_news
from regard.worlds.world import Example, Splits

FAR = 5
"""In the split ``far`` a finite verb stands at least so many words after its noun."""


class Newsroom:
    """News-like English sentences over a vocabulary of some 250 words, with the links between their own words."""

    name = "newsroom"
    task = "lm"
    describes = "Short news in English for a language model, each line with the words that belong together."

    def splits(self, *, train: int, valid: int, test: int, seed: int) -> Splits:
        """Generate the corpus; no sentence occurs twice in it.

        Args:
            train: number of training sentences.
            valid: number of validation sentences.
            test: number of test sentences, and of those in the extra split ``far`` (a finite verb stands at least
                `FAR` words after the noun that it agrees with).
            seed: equal seeds give equal corpora.

        Raises:
            ConfigError: a size below 0, or there are not so many different sentences.
        """
        rng = random.Random(f"newsroom {seed}")

        def draw() -> tuple[str, Example]:
            sentence = write_news(rng)
            example = Example(sentence.text, gold=GoldLinks(sentence.links))
            split = split_of(example.source)
            if split == EXTRA:
                return "far" if sentence.reach >= FAR else "train", example
            return split, example

        parts = fill(self.name, draw, {"train": train, "valid": valid, "test": test, "far": test})
        far = parts.pop("far")
        return Splits(parts["train"], parts["valid"], parts["test"], {"far": far})
