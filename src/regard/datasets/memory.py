"""Two tests of memory: copying a random string, and recalling the value of one key among pairs of keys and values.

`Copy` makes splits whose targets are their sources, each word aligned with itself. No word predicts the next one, so
that all must be remembered: a guess is right once in as many words as there are symbols.

`Recall` makes lines such as ``k7 v3 k2 v9 k5 v3 ? k2`` → ``v9``. No key occurs twice in a line before the query; values
may. Between a value and the query there are `delay` later pairs and then the filler, so that accuracy can be measured
against how much must be remembered, and for how long. A guess among all values is right one time in ten; a guess among
the values of the line, which needs no memory of the keys, is right one time in as many as there are pairs, or a little
more often where a value occurs twice.
"""

import random
import string
from dataclasses import replace

from regard.datasets.dataset import EXTRA, Example, Splits, assign_split, fill, fill_splits
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


KEYS = tuple(f"k{number}" for number in range(40))
VALUES = tuple(f"v{number}" for number in range(10))
"""The labels."""

_FILLER = "."
_QUERY = "?"


class Recall:
    """Key–value pairs, and a query for the value of one key."""

    name = "recall"
    task = "classify"
    summary = "Pairs of keys and values in a row, then one of the keys, whose value is to be recalled."

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
                last is queried), ``middle`` (`most` pairs, half of them later than the queried one), ``first``
                (`most` pairs, the first is queried: the longest delay of training) and ``far`` (from one pair
                more than `most` up to twice as many, and at least `most` of them later than the queried one: a
                longer delay than in training).
            seed: equal seeds give equal corpora.
            fewest: fewest pairs in a line.
            most: most pairs in a line outside ``far``.
            delay: the number of pairs between the queried one and the query, in the ordinary splits; None samples
                one for every line.
            filler: the number of meaningless symbols before the query.

        Raises:
            ConfigError: impossible numbers, or fewer different lines than asked for.
        """
        _check(fewest, most, delay, filler)
        rng, extra_rng = random.Random(f"recall {seed}"), random.Random(f"recall {seed} extra")

        def sample() -> tuple[str, Example]:
            pairs = rng.randint(fewest, most)
            later = rng.randrange(pairs) if delay is None else delay
            example = recall_line(rng, pairs, later, filler)
            return assign_split(example.source), example

        def sample_delayed() -> tuple[str, Example]:
            name, later = extra_rng.choice((("near", 0), ("middle", most // 2), ("first", most - 1)))
            example = recall_line(extra_rng, most, later, filler)
            return name if assign_split(example.source) == EXTRA else "", example

        def sample_far() -> tuple[str, Example]:
            pairs = extra_rng.randint(most + 1, 2 * most)
            return "far", recall_line(extra_rng, pairs, extra_rng.randrange(most, pairs), filler)

        splits = fill_splits(self.name, sample, train=train, valid=valid, test=test)
        extra = fill(self.name, sample_delayed, dict.fromkeys(("near", "middle", "first"), test))
        return replace(splits, extra=extra | fill(self.name, sample_far, {"far": test}))


def recall_line(rng: random.Random, pairs: int, delay: int, filler: int = 0) -> Example:
    """Sample one line and its answer.

    Args:
        rng: the random generator.
        pairs: the number of pairs, 40 at most.
        delay: the number of pairs later than the queried one.
        filler: the number of meaningless symbols before the query.
    """
    keys = rng.sample(KEYS, pairs)
    values = rng.choices(VALUES, k=pairs)
    words = [word for pair in zip(keys, values, strict=True) for word in pair]
    queried = pairs - 1 - delay
    line = " ".join([*words, *[_FILLER] * filler, _QUERY, keys[queried]])
    return Example(line, values[queried])


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
