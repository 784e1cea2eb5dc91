"""Constraints on one sentence's output, as ids: forced prefix, required and excluded phrases, forced attention.

In: ids and positions. Out: `TokenConstraints`, checked, and `ForcedAttention`, which applies the attention of a batch
step by step. How words are constrained at each step is in `candidates`; how required phrases get places in the beam, in
`phrases`. Knows no text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch

from regard.errors import ConfigError
from regard.models.state import EncodedSource
from regard.search.hypotheses import Ids
from regard.text.specials import CONTROLS

Phrase = tuple[int, ...]


@dataclass(frozen=True)
class TokenConstraints:
    """The constraints on one sentence's output.

    Attributes:
        prefix: the words it begins with.
        include: phrases that must appear, each somewhere; they may overlap.
        exclude: phrases that may not appear.
        attend: target step → source position whose alpha is forced to 1; both counted from 0.
        name: what the sentence is called in messages; by default its number in the batch.

    Raises:
        ConfigError: a phrase is empty or contains a control symbol, an excluded phrase is part of a required one, or
            a step or position is negative.
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
                        f"{name}: {phrase} contains the id {controls[0]}, which stands for no word"
                    )
        for required in (self.prefix, *self.include):
            for excluded in self.exclude:
                if contains(required, excluded):
                    raise ConfigError(
                        f"exclude: {excluded} is part of {required}, which is required; drop one of them"
                    )
        for step, position in self.attend.items():
            if step < 0 or position < 0:
                raise ConfigError(f"attend: step {step} at position {position}; both are counted from 0")

    @property
    def constrains_words(self) -> bool:
        """Whether it constrains the words, not only the attention."""
        return bool(self.prefix or self.include or self.exclude)


def contains(ids: Sequence[int], phrase: Phrase) -> bool:
    """Whether the words of a phrase are next to each other somewhere in `ids`."""
    size = len(phrase)
    return any(tuple(ids[k : k + size]) == phrase for k in range(len(ids) - size + 1))


class ForcedAttention:
    """The forced attention of each sentence of a batch.

    Args:
        constraints: one for each sentence.
        source_lengths: (B,), real tokens.

    Attributes:
        steps: at which the attention of some sentence is forced.

    Raises:
        ConfigError: a position is past the end of its source.
    """

    def __init__(self, constraints: Sequence[TokenConstraints], source_lengths: Ids) -> None:
        self._attend = [each.attend for each in constraints]
        for b, attend in enumerate(self._attend):
            for step, position in attend.items():
                if position >= source_lengths[b]:
                    raise ConfigError(
                        f"attend: step {step} of sentence {b + 1} at position {position}, and its source has "
                        f"{source_lengths[b]} tokens, counted from 0"
                    )
        self.steps = {step for attend in self._attend for step in attend}

    def apply(self, step: int, encoded: EncodedSource, sentences: Ids) -> EncodedSource:
        """The sources of these sentences as this step sees them."""
        if step not in self.steps:
            return encoded
        positions = [self._attend[b].get(step, -1) for b in sentences.tolist()]
        return encoded.with_forced_attention(torch.tensor(positions, device=encoded.mask.device))
