"""Filling the splits of a generated corpus with examples that differ from one another.

In: something that draws examples and says to which split each belongs, and the sizes wanted. Out: the
splits. A stable hash of a line says which ordinary split it belongs to, whatever the seed and the sizes, so
that a test line of one corpus is in no other's training part. Every split takes the draws in order until it
is full: a smaller split is the beginning of a larger one. Knows nothing of what the examples say.
"""

import zlib
from collections.abc import Callable, Mapping

from regard.datasets.dataset import Example
from regard.errors import ConfigError

_SHARES = 25
"""One line in so many is a test line by its hash, one a validation line, and three are for extra splits."""
_PATIENCE = 20_000
"""Draws in a row that may be of no use before the corpus is said to be too large."""

EXTRA = "extra"
"""What `split_of` says of a line that is neither for training nor for validation nor for the test."""

_SPLITS = ("test", "valid", EXTRA, EXTRA, EXTRA)


def split_of(line: str) -> str:
    """Return ``train``, ``valid``, ``test`` or ``extra``: where a line belongs, in every corpus."""
    share = zlib.crc32(line.encode()) % _SHARES
    return _SPLITS[share] if share < len(_SPLITS) else "train"


def fill(
    dataset: str, draw: Callable[[], tuple[str, Example]], wanted: Mapping[str, int]
) -> dict[str, list[Example]]:
    """Draw until every split has its size; no input occurs twice.

    Args:
        dataset: its name, for the error message.
        draw: gives the name of a split and an example for it; names not wanted are passed over.
        wanted: the size of every split by its name.

    Raises:
        ConfigError: a size below 0, or hardly any new examples are left before all splits are full.
    """
    for name, size in wanted.items():
        if size < 0:
            raise ConfigError(f"{dataset}: {size} examples for {name!r} cannot be had; ask for 0 or more")
    parts: dict[str, list[Example]] = {name: [] for name in wanted}
    open_parts = {name for name, size in wanted.items() if size > 0}
    seen: set[tuple[str, tuple[float, ...]]] = set()
    idle = 0
    while open_parts:
        name, example = draw()
        read = (example.source, example.features)
        if name not in open_parts or read in seen:
            idle += 1
            if idle > _PATIENCE:
                missing = min(open_parts)
                raise ConfigError(
                    f"{dataset}: found {len(parts[missing])} of {wanted[missing]} examples for {missing!r}, and "
                    "hardly any new ones; ask for fewer"
                )
            continue
        idle = 0
        seen.add(read)
        parts[name].append(example)
        if len(parts[name]) == wanted[name]:
            open_parts.discard(name)
    return parts
