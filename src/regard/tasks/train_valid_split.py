"""The split into training and validation examples, where no validation examples are given.

In: the examples with their contents, and their kinds where every kind is to be represented. Out: the two parts, and a
note for the user. Examples with the same content are in the same part, however often they occur.
"""

import random
from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import TypeVar

from regard.errors import DataError

Example = TypeVar("Example")

_FRACTION = 1 / 20
_MAX_VALID = 1000


def split_train_valid(
    examples: Sequence[Example],
    contents: Sequence[Hashable],
    seed: int,
    *,
    what: str,
    kinds: Sequence[Hashable] | None = None,
) -> tuple[list[Example], list[Example], str]:
    """Split off validation examples; `split_indices` chooses them.

    Args:
        examples: all there are.
        contents: of each example, the input a model reads.
        seed: of the random choice.
        what: what the examples are called, in the plural.
        kinds: of each example, where every kind is to be represented.

    Returns:
        The training examples, the validation examples, and a note for the user.

    Raises:
        DataError: there are too few to split, or all are empty.
    """
    train, valid = split_indices(contents, seed, kinds)
    return [examples[k] for k in train], [examples[k] for k in valid], split_note(len(valid), what)


def split_note(count: int, what: str, which: str = "") -> str:
    """The note about examples split off; `which` precedes their number, as "the last "."""
    are = "is" if count == 1 else "are"
    return (
        f"no validation {what} given: {which}{count:,} of the training {what} {are} split off for validation"
    )


def split_indices(
    contents: Sequence[Hashable], seed: int, kinds: Sequence[Hashable] | None = None
) -> tuple[list[int], list[int]]:
    """Choose the validation examples at random: one in twenty of every kind, at most a thousand.

    A kind with a single content stays in training; where that holds for all kinds, and there are twenty or more
    contents, kinds are ignored.

    Args:
        contents: of each example, the input a model reads.
        seed: of the random choice.
        kinds: of each example; one kind if None.

    Returns:
        The indices of the training and of the validation examples, in order.

    Raises:
        DataError: there are too few to split, or all are empty.
    """
    different: dict[Hashable, Hashable] = {}
    for index, content in enumerate(contents):
        different.setdefault(content, None if kinds is None else kinds[index])
    by_kind: defaultdict[Hashable, list[Hashable]] = defaultdict(list)
    for content, kind in different.items():
        by_kind[kind].append(content)
    if len(different) * _FRACTION >= 1 and len(different) == len(by_kind):
        by_kind = defaultdict(list, {None: list(different)})
    rng = random.Random(seed)
    fraction = min(_FRACTION, _MAX_VALID / max(len(different), 1))
    chosen: set[Hashable] = set()
    for members in by_kind.values():
        if len(members) > 1:
            chosen.update(rng.sample(members, max(1, int(fraction * len(members)))))
    count = f"{len(contents):,} example{'' if len(contents) == 1 else 's'}"
    if not any(different):
        raise DataError(f"an empty corpus: {count}, all of them empty; name a file with some text")
    if not chosen:
        raise DataError(
            f"{count} {'is' if len(contents) == 1 else 'are'} too few to train and to validate "
            f"with{_reason(len(contents), len(different))}; give more, or name a validation file with --valid"
        )
    valid = [index for index, content in enumerate(contents) if content in chosen]
    return [index for index, content in enumerate(contents) if content not in chosen], valid


def _reason(count: int, num_different: int) -> str:
    """Why examples cannot be split, where their number alone does not say it."""
    if count == 1:
        return ""
    return ": all have the same content" if num_different == 1 else ": no kind has two different ones"
