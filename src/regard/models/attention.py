"""How queries are compared with what they attend to: in a decoder, the source; in a cell, its own past.

A table of these options can be in several places of a file, so the part that holds it checks it, with `check` and the
place's name. An option that the chosen energy or window does not have is refused, not ignored.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from regard.config import Config, in_range, one_of
from regard.errors import ConfigError
from regard.layers import ENERGIES, NORMALIZERS, WINDOWS, is_covering, is_sized
from regard.ops.lstmn import OUTPUTS


@dataclass(frozen=True)
class ScoringConfig(Config):
    """From queries and keys to alpha."""

    choice_defaults: ClassVar[Mapping[str, Any]] = {"size": 256}

    energy: str = "additive"
    """additive, concat, dot, scaled-dot, bilinear (Luong's "general") or qkv (query, key and value projected)."""
    size: int | None = None
    """a, the alignment units of additive and concat; the width of qkv's queries and keys, all heads together."""
    heads: int = 1
    """How many heads share qkv's width."""
    normalizer: str = "softmax"
    """softmax, or sparsemax with weights that are exactly zero."""

    @classmethod
    def lacking(cls, options: Mapping[str, Any]) -> Mapping[str, str]:
        """What the chosen energy does not have: units of its own, several heads."""
        energy = options.get("energy")
        if energy not in ENERGIES:
            return {}
        reasons = {}
        if not is_sized(energy):
            reasons["size"] = (
                f"the energy {energy!r} has no units of its own; leave size out, or choose one of "
                f"{', '.join(filter(is_sized, ENERGIES))}"
            )
        if energy != "qkv":
            reasons["heads"] = f'the energy {energy!r} has one head; several are legal with energy = "qkv"'
        return reasons

    def __post_init__(self) -> None:
        self.fill_choices()

    def check(self, place: str) -> None:
        """Raise where a value is illegal or means nothing beside the choices made.

        Args:
            place: where the table is, such as ``model.decoder.attention``.
        """
        one_of(f"{place}.energy", self.energy, ENERGIES)
        one_of(f"{place}.normalizer", self.normalizer, NORMALIZERS)
        in_range(f"{place}.heads", self.heads, 1)
        self.check_choices(place)
        if self.size is None:
            return
        if self.size != self.choice_defaults["size"]:
            in_range(f"{place}.size", self.size, 1)
        if self.size % self.heads:
            raise ConfigError(
                f"{place}.size = {self.size}: it does not divide among {self.heads} heads; make it a multiple of them"
            )


@dataclass(frozen=True)
class AttentionConfig(ScoringConfig):
    """A decoder's attention to the source."""

    choice_defaults: ClassVar[Mapping[str, Any]] = {"size": 256, "reach": 10}

    window: str = "global"
    """Where a step may look: global; local-m, around its own position; local-p, around a position it predicts."""
    reach: int | None = None
    """D of the local windows: the number of words to either side (Luong et al. 2015, §3.2)."""
    coverage: bool = False
    """Let the energies of additive and concat see how much of each word has been attended to so far."""

    @classmethod
    def lacking(cls, options: Mapping[str, Any]) -> Mapping[str, str]:
        """What the chosen energy and window do not have: also coverage and a reach."""
        reasons = dict(super().lacking(options))
        energy = options.get("energy")
        if options.get("window") == "global":
            reasons["reach"] = (
                'the window "global" reaches everywhere; leave reach out, or choose local-m or local-p'
            )
        if energy in ENERGIES and not is_covering(energy):
            reasons["coverage"] = (
                f"the energy {energy!r} has no tanh for it to join; it is legal with "
                f"{' and '.join(filter(is_covering, ENERGIES))}"
            )
        return reasons

    def check(self, place: str) -> None:
        """Raise where a value is illegal or means nothing beside the choices made; see `ScoringConfig.check`."""
        one_of(f"{place}.window", self.window, WINDOWS)
        super().check(place)
        if self.reach is not None:
            in_range(f"{place}.reach", self.reach, 1)


@dataclass(frozen=True)
class MemoryConfig(ScoringConfig):
    """A cell's attention to its own past.

    A cell that asks first (rnn-read, lstmn) makes its query from the word and from what it read last, by matrices of
    its own. Some energies can then say only the same: concat is additive, for W_a [q; h] is a sum of two products;
    bilinear is dot, with one matrix more behind the query's own. In a cell that asks with its new state (rnn-sum,
    rnn-sum-keep) all are different. With qkv, what is read are the projected states W_V h_i; the memories c_i of an
    lstmn are read as they are, by the same alpha, which therefore has to be that of one head.
    """

    choice_defaults: ClassVar[Mapping[str, Any]] = {"size": 0}

    size: int | None = None
    """As for every attention; 0 for as many as the state has."""
    heads: int = 1
    """How many heads share qkv's width; an lstmn has one, whose alpha its states and its memories share."""
    span: int = 0
    """How many of the last states are kept, padding not counted; 0 for all."""
    output: str = "tanh"
    """Of the lstmn: tanh for h = o∘tanh(c), as the paper computes it; plain for h = o∘c, as the lectures print it."""

    def check(self, place: str) -> None:
        """Raise where a value is illegal or means nothing beside the choices made; see `ScoringConfig.check`."""
        super().check(place)
        in_range(f"{place}.span", self.span, 0)
        one_of(f"{place}.output", self.output, OUTPUTS)
