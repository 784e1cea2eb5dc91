"""How queries are compared with what they attend to: in a decoder, the source; in a cell, its own past.

A table of these options can stand in several places of a file, so it is checked by the part that holds it, with
`check` and the place's name. An option that the chosen energy does not have is refused, not ignored.
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
    """From queries and keys to alpha."""

    energy: str = "additive"
    """additive, concat, dot, scaled-dot, bilinear (Luong's "general") or qkv (query, key and value projected)."""
    size: int = 256
    """a, the alignment units of additive and concat; the width of qkv's queries and keys, all heads together."""
    heads: int = 1
    """How many heads share qkv's width."""
    normalizer: str = "softmax"
    """softmax, or sparsemax with weights that are exactly zero."""

    def check(self, place: str) -> None:
        """Raise where a value is illegal or means nothing to the energy.

        Args:
            place: where the table stands, such as ``model.decoder.attention``.
        """
        one_of(f"{place}.energy", self.energy, ENERGIES)
        one_of(f"{place}.normalizer", self.normalizer, NORMALIZERS)
        given = self.size != type(self).size
        if given:
            in_range(f"{place}.size", self.size, 1)
        in_range(f"{place}.heads", self.heads, 1)
        if not is_sized(self.energy) and given:
            raise ConfigError(
                f"{place}.size = {self.size}: the energy {self.energy!r} has no units of its own; leave size out, "
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
    """Where a step may look: global; local-m, around its own position; local-p, around a position it predicts."""
    reach: int = 10
    """D of the local windows: so many words to either side (Luong et al. 2015, §3.2)."""
    coverage: bool = False
    """Let the energies of additive and concat see how much of each word has been attended to so far."""

    def check(self, place: str) -> None:
        """Raise where a value is illegal or means nothing to the energy; see `ScoringConfig.check`."""
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

    A cell that asks first (rnn-read, lstmn) makes its query from the word and from what it read last, by matrices of
    its own. Some energies can then say only the same: concat is additive, for W_a [q; h] is a sum of two products;
    bilinear is dot, with one matrix more behind the query's own. In a cell that asks with its new state (rnn-sum,
    rnn-sum-keep) all are different. With qkv, what is read are the projected states W_V h_i; the memories c_i of an
    lstmn are read as they are, by the same alpha, which therefore has to be that of one head.
    """

    size: int = 0
    """As for every attention; 0 for as many as the state has."""
    heads: int = 1
    """How many heads share qkv's width; an lstmn has one, whose alpha its states and its memories share."""
    span: int = 0
    """How many of the last states are kept, padding not counted; 0 for all."""
    output: str = "tanh"
    """Of the lstmn: tanh for h = o∘tanh(c), as the paper computes it; plain for h = o∘c, as the lectures print it."""

    def check(self, place: str) -> None:
        """Raise where a value is illegal or means nothing to the energy; see `ScoringConfig.check`."""
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
