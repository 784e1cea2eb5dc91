"""Which examples are set aside for validation, where none are given.

In: what each example says, and, where they are to be shared out evenly, of which kind it is. Out: those kept and
those set aside, and what to tell of it. Examples that say the same stand on one side only, however often they occur.
"""

import random
from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import TypeVar

from regard.errors import DataError

Example = TypeVar("Example")

_SHARE = 20  # one in so many
_MOST = 1000


def split_train_valid(
    examples: Sequence[Example],
    contents: Sequence[Hashable],
    seed: int,
    *,
    what: str,
    kinds: Sequence[Hashable] | None = None,
) -> tuple[list[Example], list[Example], str]:
    """Part some examples from the others, as `set_aside` chooses them.

    Args:
        examples: all there are.
        contents: of each, what is read.
        seed: of the choice.
        what: what the examples are called, in the plural.
        kinds: of each, where they are to be shared out evenly.

    Returns:
        The examples kept, those set aside, and a sentence about it for the user.

    Raises:
        DataError: there are too few to part, or all are empty.
    """
    kept, aside = choose_valid(contents, seed, kinds)
    return [examples[k] for k in kept], [examples[k] for k in aside], said_of(len(aside), what)


def said_of(count: int, what: str, which: str = "") -> str:
    """The sentence that tells of examples set aside; `which` goes before their number, as "the last "."""
    return f"no validation {what} given: {which}{count:,} of the training {what} are set aside for it"


def choose_valid(
    contents: Sequence[Hashable], seed: int, kinds: Sequence[Hashable] | None = None
) -> tuple[list[int], list[int]]:
    """Part some examples from the others: one in twenty, of every kind, and a thousand at most.

    A kind that says one thing only is kept; where all do, and there are twenty or more, kinds are not heeded.

    Args:
        contents: of each example, what is read.
        seed: of the choice.
        kinds: of each example; all are of one kind if None.

    Returns:
        The examples kept and those set aside, by number and in order.

    Raises:
        DataError: there are too few to part, or all are empty.
    """
    different: dict[Hashable, Hashable] = {}
    for number, content in enumerate(contents):
        different.setdefault(content, None if kinds is None else kinds[number])
    by_kind: defaultdict[Hashable, list[Hashable]] = defaultdict(list)
    for content, kind in different.items():
        by_kind[kind].append(content)
    if _SHARE <= len(different) == len(by_kind):
        by_kind = defaultdict(list, {None: list(different)})
    rng = random.Random(seed)
    share = min(1 / _SHARE, _MOST / max(len(different), 1))
    chosen: set[Hashable] = set()
    for members in by_kind.values():
        if len(members) > 1:
            chosen.update(rng.sample(members, max(1, int(share * len(members)))))
    if not any(different):
        raise DataError(
            f"an empty corpus: {_counted(contents)}, and nothing in any of them; name a file with some text"
        )
    if not chosen:
        raise DataError(
            f"{_counted(contents)} {'is' if len(contents) == 1 else 'are'} too few to learn from and to validate "
            f"with{_why(len(contents), len(different))}; give more, or name a validation file with --valid"
        )
    aside = [number for number, content in enumerate(contents) if content in chosen]
    return [number for number, content in enumerate(contents) if content not in chosen], aside


def _counted(contents: Sequence[Hashable]) -> str:
    return f"{len(contents):,} example{'' if len(contents) == 1 else 's'}"


def _why(count: int, num_different: int) -> str:
    """Why examples cannot be parted, where their number alone does not tell."""
    if count == 1:
        return ""
    return ", for all say the same" if num_different == 1 else ", for no kind has two different ones"
