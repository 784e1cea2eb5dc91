"""Splits that a recipe makes of a data set without any: seeded, and with nothing in two parts that would give it away.

In: lines. Out: lists of lines, the same for the same seed on every machine. Knows no file formats.
"""

import random
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Split:
    """Three parts of a data set."""

    train: list[str]
    valid: list[str]
    test: list[str]


def split_groups(
    lines: Sequence[str],
    keys: Callable[[str], Iterable[Hashable]],
    *,
    num_valid: int,
    num_test: int,
    seed: int,
) -> Split:
    """Split lines so that no two parts share a key.

    Lines that share a key, directly or through others, are one group, and groups are dealt to the test set, then to
    the validation set, until each has the lines that it should have; a group of more than a hundredth of the test set
    is trained on.

    Args:
        lines: of the whole data set.
        keys: a line → what must not be in two parts, such as both of its sentences.
        num_valid: lines of the validation set, at least.
        num_test: lines of the test set, at least.
        seed: of the order in which groups are dealt.
    """
    groups = _groups([list(keys(line)) for line in lines])
    random.Random(seed).shuffle(groups)
    largest = max(1, num_test // 100)
    wanted = {"test": num_test, "valid": num_valid}
    parts: dict[str, list[int]] = {"test": [], "valid": [], "train": []}
    for group in groups:
        fits = [name for name, number in wanted.items() if len(parts[name]) < number]
        parts[fits[0] if fits and len(group) <= largest else "train"] += group
    train, valid, test = ([lines[k] for k in sorted(parts[name])] for name in ("train", "valid", "test"))
    return Split(train, valid, test)


def _groups(keys: Sequence[Sequence[Hashable]]) -> list[list[int]]:
    """Indices connected through shared keys, by union and find, in the order of their first."""
    parents = list(range(len(keys)))

    def root(k: int) -> int:
        while parents[k] != k:
            parents[k] = parents[parents[k]]
            k = parents[k]
        return k

    owners: dict[Hashable, int] = {}
    for k, own in enumerate(keys):
        for key in own:
            first, second = sorted((root(owners.setdefault(key, k)), root(k)))
            parents[second] = first
    groups: dict[int, list[int]] = {}
    for k in range(len(keys)):
        groups.setdefault(root(k), []).append(k)
    return list(groups.values())


def fold(lines: Sequence[str], num_folds: int, *, seed: int) -> list[list[str]]:
    """Lines in a seeded order, cut into folds of almost equal size: fold k has every `num_folds`-th from k on."""
    order = list(lines)
    random.Random(seed).shuffle(order)
    return [order[k::num_folds] for k in range(num_folds)]
