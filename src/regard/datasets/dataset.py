"""What a world is: a corpus that comes with the package, generated and never downloaded.

A world hands out `Example`s in named splits that share no input. It knows nothing of tokenizers, tensors or
models; its task says which kind of model it is for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from regard.text.links import GoldLinks


@dataclass(frozen=True, slots=True)
class Example:
    """One thing to learn from; what its parts are hangs on the world's task.

    Attributes:
        source: the line that is read: a sentence to translate, classify or tag, or a language model's line;
            empty where a vector is described.
        target: the line to be given: a translation, a label, tags (one per word of the source, separated by
            blanks) or a description; empty for a language model.
        gold: the word alignment, where the world knows it; of a language model's line, which of its own words belong
            together, each link an earlier word and a later one.
        features: the vector to describe; empty for every other task.
    """

    source: str
    target: str = ""
    gold: GoldLinks | None = None
    features: tuple[float, ...] = ()


@dataclass(frozen=True)
class Splits:
    """The parts of a generated corpus; no input (source or features) stands in two of them."""

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
    describes: str
    """One sentence for ``regard demo --help``."""

    def splits(self, *, train: int, valid: int, test: int, seed: int) -> Splits:
        """Generate the corpus."""
        ...
