"""What a dataset is, and how its splits are filled.

In: a sampler that returns examples and the split each belongs to, and the sizes of the splits. Out: `Splits` that share
no input. A stable hash of a line decides which ordinary split it belongs to, whatever the seed and the sizes, so that a
test line of one corpus is never a training line of another. Every split takes the samples in order until it is full: a
smaller split is a prefix of a larger one. Knows nothing of tokenizers, tensors, models, or what the examples say.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from regard.errors import ConfigError
from regard.text.links import GoldLinks


@dataclass(frozen=True, slots=True)
class Example:
    """One example; what its parts are depends on the dataset's task.

    Attributes:
        source: the input line: a sentence to translate, classify or tag, or a language model's line; empty where the
            input is a vector.
        target: the output line: a translation, a label, tags (one per word of the source, separated by blanks) or a
            caption; empty for a language model.
        gold: the word alignment, where the dataset knows it; for a language model's line, the dependencies between
            its own words, each link an earlier word and a later one.
        features: the vector to caption; empty for every other task.
    """

    source: str
    target: str = ""
    gold: GoldLinks | None = None
    features: tuple[float, ...] = ()


@dataclass(frozen=True)
class Splits:
    """The splits of a generated corpus; no input (source or features) is in two of them."""

    train: Sequence[Example]
    valid: Sequence[Example]
    test: Sequence[Example]
    extra: Mapping[str, Sequence[Example]]
    """Further test sets by name, such as ``long`` or ``unseen``."""


class Dataset(Protocol):
    """A generator of splits; equal arguments give equal splits on every machine."""

    name: str
    task: str
    """The name of the task its examples are for, one of `regard.tasks.TASKS`."""
    summary: str
    """One sentence for ``regard demo --help``."""

    def splits(self, *, train: int, valid: int, test: int, seed: int) -> Splits:
        """Generate the corpus."""
        ...


_NUM_BUCKETS = 25
"""Of the hash: one bucket is for testing, one for validation, and three are for extra splits."""
_MAX_REJECTED = 20_000
"""Samples in a row that may be rejected before the corpus is declared too large."""

EXTRA = "extra"
"""The split of lines that are for none of the ordinary ones."""

_SPLITS = ("test", "valid", EXTRA, EXTRA, EXTRA)


def assign_split(line: str) -> str:
    """The split a line belongs to in every corpus: ``train``, ``valid``, ``test`` or ``extra``."""
    bucket = zlib.crc32(line.encode()) % _NUM_BUCKETS
    return _SPLITS[bucket] if bucket < len(_SPLITS) else "train"


Sampler = Callable[[], tuple[str, Example]]
"""Returns the name of a split and an example for it."""


def fill(
    dataset: str, sample: Sampler, sizes: Mapping[str, int], *, remedy: str = "ask for fewer"
) -> dict[str, list[Example]]:
    """Sample until every split has its size; no input occurs twice.

    Args:
        dataset: its name, for the error message.
        sample: examples for splits that are full or not in `sizes` are rejected.
        sizes: by the name of the split.
        remedy: what the error message advises.

    Raises:
        ConfigError: a size below 0, or hardly any new examples are left before all splits are full.
    """
    for name, size in sizes.items():
        if size < 0:
            raise ConfigError(f"{dataset}: {size} examples for {name!r} cannot be had; ask for 0 or more")
    splits: dict[str, list[Example]] = {name: [] for name in sizes}
    unfilled = {name for name, size in sizes.items() if size > 0}
    seen: set[tuple[str, tuple[float, ...]]] = set()
    rejected = 0
    while unfilled:
        name, example = sample()
        given = (example.source, example.features)
        if name not in unfilled or given in seen:
            rejected += 1
            if rejected > _MAX_REJECTED:
                missing = min(unfilled)
                raise ConfigError(
                    f"{dataset}: found {len(splits[missing])} of {sizes[missing]} examples for {missing!r}, and "
                    f"hardly any new ones; {remedy}"
                )
            continue
        rejected = 0
        seen.add(given)
        splits[name].append(example)
        if len(splits[name]) == sizes[name]:
            unfilled.discard(name)
    return splits


def fill_splits(
    dataset: str,
    sample: Sampler,
    *,
    train: int,
    valid: int,
    test: int,
    extra: Sequence[str] = (),
    remedy: str = "ask for fewer",
) -> Splits:
    """Fill the ordinary splits and, as large as the test set, the extra ones.

    Args:
        dataset: as for `fill`.
        sample: as for `fill`.
        train: number of training examples.
        valid: number of validation examples.
        test: number of test examples, and of those in each extra split.
        extra: the names of the extra splits.
        remedy: as for `fill`.

    Raises:
        ConfigError: as for `fill`.
    """
    sizes = {"train": train, "valid": valid, "test": test, **dict.fromkeys(extra, test)}
    splits = fill(dataset, sample, sizes, remedy=remedy)
    return Splits(splits["train"], splits["valid"], splits["test"], {name: splits[name] for name in extra})
