"""What one sentence's output must and may not hold; ids, not text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from regard.errors import ConfigError
from regard.text.specials import CONTROLS

Phrase = tuple[int, ...]


@dataclass(frozen=True)
class Request:
    """What is asked of one sentence's output.

    Attributes:
        prefix: the words it begins with.
        include: phrases that must appear, each somewhere; they may overlap.
        exclude: phrases that may not appear.
        attend: target step → source position whose alpha is forced to 1; both counted from 0.
        name: what the sentence is called in messages; by default its number in the batch.
    """

    prefix: Phrase = ()
    include: tuple[Phrase, ...] = ()
    exclude: tuple[Phrase, ...] = ()
    attend: Mapping[int, int] = field(default_factory=dict)
    name: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for name, phrases in (("include", self.include), ("exclude", self.exclude)):
            if () in phrases:
                raise ConfigError(f"{name}: a phrase without words; leave it out")
        for name, phrases in (
            ("prefix", (self.prefix,)),
            ("include", self.include),
            ("exclude", self.exclude),
        ):
            for phrase in phrases:
                if controls := sorted(CONTROLS & set(phrase)):
                    raise ConfigError(
                        f"{name}: {phrase} holds the id {controls[0]}, which stands for no word"
                    )
        for wanted in (self.prefix, *self.include):
            for unwanted in self.exclude:
                if contains(wanted, unwanted):
                    raise ConfigError(
                        f"exclude: {unwanted} is part of {wanted}, which is asked for; drop one of them"
                    )
        for step, position in self.attend.items():
            if step < 0 or position < 0:
                raise ConfigError(f"attend: step {step} at position {position}; both are counted from 0")

    @property
    def asks_of_words(self) -> bool:
        """Whether it asks anything of the words, not only of the attention."""
        return bool(self.prefix or self.include or self.exclude)


def contains(ids: Sequence[int], phrase: Phrase) -> bool:
    """Whether the words of a phrase stand next to each other somewhere in `ids`."""
    size = len(phrase)
    return any(tuple(ids[k : k + size]) == phrase for k in range(len(ids) - size + 1))
