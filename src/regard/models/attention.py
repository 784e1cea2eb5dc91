"""The configuration of attention: of a decoder to the source, and of a cell to its own past.

The same table of options occurs in several places of a configuration, so its owner checks it, with `check` and the name
of the place. An option that the chosen energy or window does not have is refused, not ignored.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from regard.config import Config, in_range, one_of
from regard.errors import ConfigError
from regard.layers import ENERGIES, NORMALIZERS, WINDOWS, is_covering, is_sized
from regard.ops.lstmn import OUTPUTS

MAX_UNITS = 65_536
"""The largest width of a layer of any model."""


@dataclass(frozen=True)
class ScoringConfig(Config):
    """How alpha is computed from queries and keys."""

    choice_defaults: ClassVar[Mapping[str, Any]] = {"size": 256}

    energy: str = "additive"
    """The energy: additive, concat, dot, scaled-dot, bilinear (or general, Luong's name for it), qk (with projected
    queries and keys) or qkv (with projected values, too)."""
    size: int | None = None
    """The number of alignment units of additive and concat; the width of the queries and keys of qk and qkv, all heads
    together."""
    heads: int = 1
    """The number of heads of qkv; each has an equal share of its width."""
    normalizer: str = "softmax"
    """How energies become alpha: softmax, or sparsemax, which can give weights of exactly zero."""
    scaled: bool = field(default=True, kw_only=True)
    """Whether the energies of qkv are divided by √p, p the width of a head's queries and keys; those of qk are not."""

    @classmethod
    def lacking(cls, options: Mapping[str, Any]) -> Mapping[str, str]:
        """What the chosen energy does not have: a size, several heads, a scale to leave out."""
        energy = options.get("energy")
        if energy not in ENERGIES:
            return {}
        reasons = {}
        if not is_sized(energy):
            reasons["size"] = (
                f"the energy {energy!r} has no size; leave it out, or choose one of "
                f"{', '.join(filter(is_sized, ENERGIES))}"
            )
        if energy != "qkv":
            reasons["heads"] = f'the energy {energy!r} has one head; several are allowed with energy = "qkv"'
            reasons["scaled"] = f"it is an option of qkv, not of {energy!r}; leave it out, or choose qkv"
        return reasons

    def __post_init__(self) -> None:
        self.fill_choices()

    def check(self, place: str) -> None:
        """Raise if a value is not allowed, or is not an option of the chosen energy or window.

        Args:
            place: the table's name in messages, such as ``model.decoder.attention``.
        """
        one_of(f"{place}.energy", self.energy, ENERGIES)
        one_of(f"{place}.normalizer", self.normalizer, NORMALIZERS)
        in_range(f"{place}.heads", self.heads, 1, MAX_UNITS)
        self.check_choices(place)
        if self.size is None:
            return
        if self.size != self.choice_defaults["size"]:
            in_range(f"{place}.size", self.size, 1, MAX_UNITS)
        if self.size % self.heads:
            raise ConfigError(
                f"{place}.size = {self.size}: it does not divide among {self.heads} heads; make it a multiple of them"
            )


@dataclass(frozen=True)
class AttentionConfig(ScoringConfig):
    """A decoder's attention to the source."""

    choice_defaults: ClassVar[Mapping[str, Any]] = {"size": 256, "window_size": 10, "value_size": 0}

    window: str = "global"
    """Where a step may attend: global; local-m, around its own position; local-p, around a predicted position."""
    window_size: int | None = None
    """D, the number of words on either side in a local window (Luong et al. 2015, §3.2)."""
    coverage: bool = False
    """Whether the energies of additive and concat include the sum of the alphas so far (Tu et al. 2016)."""
    value_size: int | None = field(default=None, kw_only=True)
    """r, the width of qkv's values and of the context, all heads together; 0 for that of the annotations."""

    @classmethod
    def lacking(cls, options: Mapping[str, Any]) -> Mapping[str, str]:
        """What the chosen energy and window do not have: also coverage, a window_size and a value_size."""
        reasons = dict(super().lacking(options))
        energy = options.get("energy")
        if options.get("window") == "global":
            reasons["window_size"] = (
                'the window "global" is the whole source; leave window_size out, or choose local-m or local-p'
            )
        if energy in ENERGIES and not is_covering(energy):
            reasons["coverage"] = (
                f"the energy {energy!r} cannot include coverage; leave it out, or choose "
                f"{' or '.join(filter(is_covering, ENERGIES))}"
            )
        if energy in ENERGIES and energy != "qkv":
            reasons["value_size"] = (
                f"the energy {energy!r} reads the annotations themselves; leave value_size out, or choose qkv"
            )
        return reasons

    def check(self, place: str) -> None:
        """Raise if a value is not allowed, or is not an option of the choices made; see `ScoringConfig.check`."""
        one_of(f"{place}.window", self.window, WINDOWS)
        super().check(place)
        if self.window_size is not None:
            in_range(f"{place}.window_size", self.window_size, 1)
        if self.value_size is not None:
            in_range(f"{place}.value_size", self.value_size, 0, MAX_UNITS)
            if self.value_size % self.heads:
                raise ConfigError(
                    f"{place}.value_size = {self.value_size}: it does not divide among {self.heads} heads; make it a "
                    "multiple of them"
                )


@dataclass(frozen=True)
class MemoryConfig(ScoringConfig):
    """A cell's attention to its own past.

    A cell that attends before its update (rnn-read, lstmn) projects the word and its last summary into the query. Some
    energies are then equivalent: concat is additive, as W_a [q; h] is a sum of two products; bilinear is dot, with one
    matrix more after the query's projection. In a cell that attends with its new state (rnn-sum, rnn-sum-keep) all are
    different. With qkv, the summary is a mean of the projected states W_V h_i; the memories c_i of an lstmn are not
    projected and share the alpha, so an lstmn has one head.
    """

    choice_defaults: ClassVar[Mapping[str, Any]] = {"size": 0}

    size: int | None = None
    """The number of units of a cell's attention to its own past, as for a decoder's; 0 for as many as the state has."""
    heads: int = 1
    """The number of heads of qkv; an lstmn has one."""
    span: int = 0
    """How many previous states a cell can attend to (the tape's length), padding not counted; 0 for all."""
    output: str = "tanh"
    """The output of an lstmn: tanh for h = o∘tanh(c), as in the paper; plain for h = o∘c, as in the lectures."""

    def check(self, place: str) -> None:
        """Raise if a value is not allowed, or is not an option of the choices made; see `ScoringConfig.check`."""
        super().check(place)
        in_range(f"{place}.span", self.span, 0)
        one_of(f"{place}.output", self.output, OUTPUTS)
