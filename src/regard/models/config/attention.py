"""How queries are compared with what they attend to: in a decoder, the source; in a cell, its own past.

A table of these options can stand in several places of a file, so it is checked by the part that holds it, with
`check` and the place's name. An option that the chosen energy does not have is refused, not ignored.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from regard.configuration import Config, in_range, one_of
from regard.errors import ConfigError
from regard.layers import CELLS, COVERING, ENERGIES, LSTMN, NORMALIZERS, SIZED, WINDOWS, SelfAttentive

OUTPUTS = ("tanh", "plain")


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
        in_range(f"{place}.size", self.size, 1)
        in_range(f"{place}.heads", self.heads, 1)
        if self.energy not in SIZED and self.size != ScoringConfig.size:
            raise ConfigError(
                f"{place}.size = {self.size}: the energy {self.energy!r} has no units of its own; leave size out, "
                f"or choose one of {', '.join(sorted(SIZED))}"
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
        if self.coverage and self.energy not in COVERING:
            raise ConfigError(
                f"{place}.coverage: the energy {self.energy!r} has no tanh for it to join; it is legal with "
                f"{' and '.join(COVERING)}"
            )


@dataclass(frozen=True)
class MemoryConfig(ScoringConfig):
    """A cell's attention to its own past."""

    span: int = 0
    """How many of the last states are kept; 0 for all."""
    output: str = "tanh"
    """Of the lstmn: tanh for h = o∘tanh(c), as the paper computes it; plain for h = o∘c, as the lectures print it."""

    def check(self, place: str) -> None:
        """Raise where a value is illegal or means nothing to the energy; see `ScoringConfig.check`."""
        super().check(place)
        in_range(f"{place}.span", self.span, 0)
        one_of(f"{place}.output", self.output, OUTPUTS)


def refitted(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """A file's tables as far as they still mean something under others laid over them.

    Where `over` chooses another energy, window or cell, what `base` says of options that this one does not have is
    left out; what `over` says itself is not looked at, so that a mistake there is still told.
    """
    kept = dict(base)
    energy = over.get("energy")
    if energy in ENERGIES:
        foreign = {"size": energy not in SIZED, "heads": energy != "qkv", "coverage": energy not in COVERING}
        kept = {name: value for name, value in kept.items() if not foreign.get(name, False)}
    if over.get("window") == "global":
        kept.pop("reach", None)
    cell, memory = over.get("cell"), kept.get("memory")
    if isinstance(cell, str) and cell in CELLS and isinstance(memory, Mapping):
        if not issubclass(CELLS[cell], SelfAttentive):
            del kept["memory"]
        elif not issubclass(CELLS[cell], LSTMN):
            kept["memory"] = {name: value for name, value in memory.items() if name != "output"}
    for name, table in over.items():
        if isinstance(table, Mapping) and isinstance(kept.get(name), Mapping):
            kept[name] = refitted(kept[name], table)
    return kept
