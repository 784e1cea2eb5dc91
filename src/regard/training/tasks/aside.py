"""Which examples are set aside for validation, where none are given.

In: what each example says, and, where they are to be shared out evenly, of which kind it is. Out: the numbers of
those kept and of those set aside. Examples that say the same stand on one side only, however often they occur.
"""

import random
from collections import defaultdict
from collections.abc import Hashable, Sequence

from regard.errors import DataError

_SHARE = 20  # one in so many
_MOST = 1000


def set_aside(
    contents: Sequence[Hashable], seed: int, kinds: Sequence[Hashable] | None = None
) -> tuple[list[int], list[int]]:
    """Part some examples from the others: one in twenty, of every kind, and a thousand at most.

    Args:
        contents: of each example, what is read.
        seed: of the choice.
        kinds: of each example; all are of one kind if None. A kind that says one thing only is kept.

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
    rng = random.Random(seed)
    share = min(1 / _SHARE, _MOST / max(len(different), 1))
    chosen: set[Hashable] = set()
    for members in by_kind.values():
        if len(members) > 1:
            chosen.update(rng.sample(members, max(1, int(share * len(members)))))
    if not any(different):
        raise DataError(
            f"an empty corpus: {len(contents)} examples, and nothing in any of them; name a file with some text"
        )
    if not chosen:
        raise DataError(
            f"{len(contents)} examples are too few to learn from and to validate with, being but {len(different)} "
            "different ones; give more, or name a validation file with --valid"
        )
    aside = [number for number, content in enumerate(contents) if content in chosen]
    return [number for number, content in enumerate(contents) if content not in chosen], aside
