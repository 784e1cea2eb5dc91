"""The copying dataset: random strings of symbols to be copied, a plain test of memory.

In: sizes, a seed, a range of lengths, the number of symbols. Out: splits whose targets are their sources, each word
aligned with itself. No word predicts the next one, so that all must be remembered: a guess is right once in as many
words as there are symbols.
"""

import random
import string
from dataclasses import replace

from regard.datasets.dataset import Example, Splits, assign_split, fill, fill_splits
from regard.errors import ConfigError
from regard.text.links import GoldLinks

_LONG = 3
"""The split ``long`` goes up to this many times the usual length."""


class Copy:
    """Strings of random letters, to be copied."""

    name = "copy"
    task = "translate"
    summary = "Random letters to be copied one by one, and longer strings than those of the training set."

    def splits(
        self,
        *,
        train: int,
        valid: int,
        test: int,
        seed: int,
        shortest: int = 5,
        longest: int = 20,
        symbols: int = 26,
    ) -> Splits:
        """Generate the corpus; no string occurs twice in it.

        Args:
            train: number of training strings.
            valid: number of validation strings.
            test: number of test strings, and of those in the extra split ``long`` (from one symbol more than
                `longest` up to three times as many).
            seed: equal seeds give equal corpora.
            shortest: fewest symbols.
            longest: most symbols outside ``long``.
            symbols: the number of different ones, from 2 to 26.

        Raises:
            ConfigError: impossible lengths or numbers of symbols, or fewer different strings than asked for.
        """
        if not 1 <= shortest <= longest:
            raise ConfigError(
                f"copy: lengths {shortest} to {longest} cannot be had; choose shortest ≥ 1 and longest ≥ shortest"
            )
        if not 2 <= symbols <= len(string.ascii_lowercase):
            raise ConfigError(f"copy: {symbols} different symbols cannot be had; choose from 2 to 26")
        letters = string.ascii_lowercase[:symbols]
        rng, long_rng = random.Random(f"copy {seed}"), random.Random(f"copy {seed} long")

        def sample() -> tuple[str, Example]:
            example = _sample_string(rng, letters, shortest, longest)
            return assign_split(example.source), example

        def sample_long() -> tuple[str, Example]:
            return "long", _sample_string(long_rng, letters, longest + 1, _LONG * longest)

        splits = fill_splits(self.name, sample, train=train, valid=valid, test=test)
        return replace(splits, extra=fill(self.name, sample_long, {"long": test}))


def _sample_string(rng: random.Random, letters: str, shortest: int, longest: int) -> Example:
    length = rng.randint(shortest, longest)
    line = " ".join(rng.choices(letters, k=length))
    return Example(line, line, GoldLinks(frozenset((i, i) for i in range(length))))
