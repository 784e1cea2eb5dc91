"""The configuration of attention: of a decoder to the source, and of a cell to its own past.

The same table of options occurs in several places of a configuration, so its owner checks it, with `check` and the name
of the place. An option that the chosen energy does not have is refused, not ignored.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from regard.config import Config, in_range, one_of
from regard.errors import ConfigError
from regard.layers import CELLS, ENERGIES, LSTMN, NORMALIZERS, WINDOWS, SelfAttentive, is_covering, is_sized
from regard.ops.lstmn import OUTPUTS

UNSIZED_POOLINGS = ("last", "mean")
"""The poolings that are rules, without units of their own."""


@dataclass(frozen=True)
class ScoringConfig(Config):
    """How alpha is computed from queries and keys."""

    energy: str = "additive"
    """The energy: additive, concat, dot, scaled-dot, bilinear (or general, Luong's name for it) or qkv (with projected
    queries, keys and values)."""
    size: int = 256
    """The number of alignment units of additive and concat; the width of qkv's queries and keys, all heads together."""
    heads: int = 1
    """The number of heads of qkv; each has an equal share of its width."""
    normalizer: str = "softmax"
    """How energies become alpha: softmax, or sparsemax, which can give weights of exactly zero."""

    def check(self, place: str) -> None:
        """Raise if a value is illegal or is not an option of the energy.

        Args:
            place: the table's name in messages, such as ``model.decoder.attention``.
        """
        one_of(f"{place}.energy", self.energy, ENERGIES)
        one_of(f"{place}.normalizer", self.normalizer, NORMALIZERS)
        given = self.size != type(self).size
        if given:
            in_range(f"{place}.size", self.size, 1)
        in_range(f"{place}.heads", self.heads, 1)
        if not is_sized(self.energy) and given:
            raise ConfigError(
                f"{place}.size = {self.size}: the energy {self.energy!r} has no size; leave it out, "
                f"or choose one of {', '.join(filter(is_sized, ENERGIES))}"
            )
        if self.heads > 1 and self.energy != "qkv":
            raise ConfigError(
                f"{place}.heads = {self.heads}: the energy {self.energy!r} has one head; several are legal with "
                'energy = "qkv"'
            )
        if self.size % self.heads:
            raise ConfigError(
                f"{place}.size = {self.size}: it does not divide among {self.heads} heads; make it a multiple of them"
            )


@dataclass(frozen=True)
class AttentionConfig(ScoringConfig):
    """A decoder's attention to the source."""

    window: str = "global"
    """Where a step may attend: global; local-m, around its own position; local-p, around a predicted position."""
    reach: int = 10
    """D, the number of words to either side in a local window (Luong et al. 2015, §3.2)."""
    coverage: bool = False
    """Whether the energies of additive and concat include the sum of the alphas so far (Tu et al. 2016)."""

    def check(self, place: str) -> None:
        """Raise if a value is illegal or is not an option of the energy; see `ScoringConfig.check`."""
        super().check(place)
        one_of(f"{place}.window", self.window, WINDOWS)
        in_range(f"{place}.reach", self.reach, 1)
        if self.window == "global" and self.reach != AttentionConfig.reach:
            raise ConfigError(
                f'{place}.reach = {self.reach}: the window "global" reaches everywhere; leave reach out, or choose '
                "local-m or local-p"
            )
        if self.coverage and not is_covering(self.energy):
            raise ConfigError(
                f"{place}.coverage: the energy {self.energy!r} has no tanh for it to join; it is legal with "
                f"{' and '.join(filter(is_covering, ENERGIES))}"
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

    size: int = 0
    """As for a decoder's attention; 0 for as many units as the state has."""
    heads: int = 1
    """The number of heads of qkv; an lstmn has one."""
    span: int = 0
    """How many of the last states the tape keeps, padding not counted; 0 for all."""
    output: str = "tanh"
    """The output of an lstmn: tanh for h = o∘tanh(c), as in the paper; plain for h = o∘c, as in the lectures."""

    def check(self, place: str) -> None:
        """Raise if a value is illegal or is not an option of the energy; see `ScoringConfig.check`."""
        super().check(place)
        in_range(f"{place}.span", self.span, 0)
        one_of(f"{place}.output", self.output, OUTPUTS)


def refitted(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """A file's tables as far as they still mean something under others laid over them.

    Where `over` chooses another energy, window, cell, pooling or decoder, what `base` says of options that this one
    does not have is left out; what `over` says itself is not looked at, so that a mistake there is still told.
    """
    kept = dict(base)
    energy = over.get("energy")
    if energy in ENERGIES:
        foreign = {
            "size": not is_sized(energy),
            "heads": energy != "qkv",
            "coverage": not is_covering(energy),
        }
        kept = {name: value for name, value in kept.items() if not foreign.get(name, False)}
    if over.get("window") == "global":
        kept.pop("reach", None)
    if over.get("pooling") in UNSIZED_POOLINGS:
        kept.pop("pooling_size", None)
    decoder = over.get("decoder")
    if isinstance(decoder, Mapping) and decoder.get("kind") == "sutskever":
        kept.pop("summary_size", None)
    cell, memory = over.get("cell"), kept.get("memory")
    if isinstance(cell, str) and cell in CELLS and isinstance(memory, Mapping):
        if not issubclass(CELLS[cell], SelfAttentive):
            del kept["memory"]
        else:
            foreign_option = "heads" if issubclass(CELLS[cell], LSTMN) else "output"
            kept["memory"] = {name: value for name, value in memory.items() if name != foreign_option}
    for name, table in over.items():
        if isinstance(table, Mapping) and isinstance(kept.get(name), Mapping):
            kept[name] = refitted(kept[name], table)
    return kept
