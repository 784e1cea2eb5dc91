"""What a world is: a corpus that comes with the package, generated and never downloaded.

A world hands out `Example`s in named splits that share no source sentence. It knows nothing of tokenizers,
tensors or models.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from regard.text.links import GoldLinks


@dataclass(frozen=True, slots=True)
class Example:
    """One pair of lines, with the gold word alignment where the world knows it."""

    source: str
    target: str
    gold: GoldLinks | None = None


@dataclass(frozen=True)
class Splits:
    """The parts of a generated corpus; no source sentence stands in two of them."""

    train: Sequence[Example]
    valid: Sequence[Example]
    test: Sequence[Example]
    extra: Mapping[str, Sequence[Example]]
    """Further test sets by name, such as ``long`` or ``unseen``."""


class World(Protocol):
    """A generator of splits; equal arguments give equal splits on every machine."""

    name: str
    describes: str
    """One sentence for ``regard demo --help``."""

    def splits(self, *, train: int, valid: int, test: int, seed: int) -> Splits:
        """Generate the corpus."""
        ...
