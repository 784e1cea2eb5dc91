"""The world of copying: random strings of symbols to be said again, a plain test of memory.

In: sizes, a seed, a range of lengths, how many symbols there are. Out: splits whose targets are their sources,
each word aligned with itself. No word tells anything of the next one, so all must be remembered: a guess is
right once in as many words as there are symbols.
"""

import random
import string

from regard.datasets.dataset import Example, Splits
from regard.datasets.filling import fill, split_of
from regard.errors import ConfigError
from regard.text.links import GoldLinks

_STRETCH = 3
"""The split ``long`` goes up to so many times the usual length."""


class Copy:
    """Strings of random letters, to be copied."""

    name = "copy"
    task = "translate"
    describes = "Random letters to be copied one by one, and longer strings than were learnt from."

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
            symbols: how many different ones there are, from 2 to 26.

        Raises:
            ConfigError: the lengths or the symbols cannot be had, or there are not so many different strings.
        """
        if not 1 <= shortest <= longest:
            raise ConfigError(
                f"copy: lengths {shortest} to {longest} cannot be had; choose shortest ≥ 1 and longest ≥ shortest"
            )
        if not 2 <= symbols <= len(string.ascii_lowercase):
            raise ConfigError(f"copy: {symbols} different symbols cannot be had; choose from 2 to 26")
        letters = string.ascii_lowercase[:symbols]
        rng = random.Random(f"copy {seed}")

        def usual() -> tuple[str, Example]:
            example = _copied(rng, letters, shortest, longest)
            return split_of(example.source), example

        parts = fill(self.name, usual, {"train": train, "valid": valid, "test": test})
        stretched = random.Random(f"copy {seed} long")

        def beyond() -> tuple[str, Example]:
            return "long", _copied(stretched, letters, longest + 1, _STRETCH * longest)

        extra = fill(self.name, beyond, {"long": test})
        return Splits(parts["train"], parts["valid"], parts["test"], extra)


def _copied(rng: random.Random, letters: str, shortest: int, longest: int) -> Example:
    length = rng.randint(shortest, longest)
    line = " ".join(rng.choices(letters, k=length))
    return Example(line, line, GoldLinks(frozenset((i, i) for i in range(length))))
