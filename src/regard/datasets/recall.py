"""The world of recall: pairs of a key and a value in a row, then a question for one of the keys.

In: sizes, a seed, how many pairs, which of them is asked for. Out: splits of lines such as
``k7 v3 k2 v9 k5 v3 ? k2`` → ``v9``. No key occurs twice in a line before the question; values may. Between a
value and the question stand `delay` later pairs and then the filler, so accuracy can be measured against
what must be kept in mind and for how long.

Chance: a guess among all values is right one time in ten; a guess among the values of the line, which needs
no memory of the keys, is right one time in as many as there are pairs, or a little more often where a value
stands twice.
"""

import random

from regard.datasets.dataset import Example, Splits
from regard.datasets.filling import EXTRA, fill, split_of
from regard.errors import ConfigError

KEYS = tuple(f"k{number}" for number in range(40))
VALUES = tuple(f"v{number}" for number in range(10))
"""The labels."""

_FILLER = "."
_QUESTION = "?"


class Recall:
    """Which value went with this key?"""

    name = "recall"
    task = "classify"
    describes = "Pairs of keys and values in a row, then one of the keys, whose value is to be recalled."

    def splits(
        self,
        *,
        train: int,
        valid: int,
        test: int,
        seed: int,
        fewest: int = 2,
        most: int = 8,
        delay: int | None = None,
        filler: int = 0,
    ) -> Splits:
        """Generate the corpus; no line occurs twice in it.

        Args:
            train: number of training lines.
            valid: number of validation lines.
            test: number of test lines, and of those in each of the extra splits: ``near`` (`most` pairs, the
                last is asked for), ``middle`` (`most` pairs, half of them later than the one asked for),
                ``first`` (`most` pairs, the first is asked for: as far back as training goes) and ``far``
                (from one pair more than `most` up to twice as many, and at least `most` of them later than
                the one asked for: further back than training goes).
            seed: equal seeds give equal corpora.
            fewest: fewest pairs in a line.
            most: most pairs in a line outside ``far``.
            delay: how many pairs stand between the one asked for and the question, in the ordinary splits;
                None draws anew for every line.
            filler: how many meaningless symbols stand before the question.

        Raises:
            ConfigError: the numbers cannot be had, or there are not so many different lines.
        """
        _check(fewest, most, delay, filler)
        rng = random.Random(f"recall {seed}")

        def usual() -> tuple[str, Example]:
            pairs = rng.randint(fewest, most)
            later = rng.randrange(pairs) if delay is None else delay
            example = recall_line(rng, pairs, later, filler)
            return split_of(example.source), example

        parts = fill(self.name, usual, {"train": train, "valid": valid, "test": test})
        asked = random.Random(f"recall {seed} extra")

        def delayed() -> tuple[str, Example]:
            name, later = asked.choice((("near", 0), ("middle", most // 2), ("first", most - 1)))
            example = recall_line(asked, most, later, filler)
            return name if split_of(example.source) == EXTRA else "", example

        extra = fill(self.name, delayed, dict.fromkeys(("near", "middle", "first"), test))

        def beyond() -> tuple[str, Example]:
            pairs = asked.randint(most + 1, 2 * most)
            return "far", recall_line(asked, pairs, asked.randrange(most, pairs), filler)

        extra |= fill(self.name, beyond, {"far": test})
        return Splits(parts["train"], parts["valid"], parts["test"], extra)


def recall_line(rng: random.Random, pairs: int, delay: int, filler: int = 0) -> Example:
    """Draw one line and its answer.

    Args:
        rng: the dice.
        pairs: how many pairs there are, 40 at most.
        delay: how many of them come later than the one asked for.
        filler: how many meaningless symbols stand before the question.
    """
    keys = rng.sample(KEYS, pairs)
    values = rng.choices(VALUES, k=pairs)
    words = [word for pair in zip(keys, values, strict=True) for word in pair]
    asked = pairs - 1 - delay
    line = " ".join([*words, *[_FILLER] * filler, _QUESTION, keys[asked]])
    return Example(line, values[asked])


def _check(fewest: int, most: int, delay: int | None, filler: int) -> None:
    if not 1 <= fewest <= most <= len(KEYS) // 2:
        raise ConfigError(
            f"recall: {fewest} to {most} pairs cannot be had; choose 1 ≤ fewest ≤ most ≤ {len(KEYS) // 2}"
        )
    if delay is not None and not 0 <= delay < fewest:
        raise ConfigError(
            f"recall: a delay of {delay} pairs cannot be had in lines of {fewest} to {most} pairs; "
            f"choose from 0 to {fewest - 1}, or more pairs"
        )
    if filler < 0:
        raise ConfigError(f"recall: {filler} filler symbols cannot be had; choose 0 or more")
