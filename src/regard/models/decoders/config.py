"""The configurations of the decoders, with the encoders that each can be combined with.

To add one, write a subclass of `DecoderConfig` and add a line to its `variants`, below.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from regard.config import Config, in_range, one_of, toml_value
from regard.errors import ConfigError
from regard.layers import READOUTS
from regard.models.attention import MAX_UNITS, AttentionConfig
from regard.models.encoder import EncoderConfig
from regard.models.stack import StackConfig

BRIDGES = ("copy", "project")


@dataclass(frozen=True)
class DecoderConfig(StackConfig):
    """Base of the decoders' configurations; `kind` in a file chooses among `variants`."""

    place = "model.decoder"

    @property
    def attends(self) -> bool:
        """Whether this decoder attends to the words of the source."""
        return hasattr(self, "attention")

    @property
    def output_size(self) -> int:
        """The width of the output matrix's input: the readout, or the state of a decoder without one."""
        return int(getattr(self, "readout_size", None) or self.state_size)

    def check_encoder(self, encoder: EncoderConfig) -> None:
        """Raise if this decoder cannot be combined with that encoder."""


@dataclass(frozen=True)
class SutskeverConfig(DecoderConfig):
    """The encoder's last states are the decoder's initial states, without attention (Sutskever et al. 2014)."""

    def check_encoder(self, encoder: EncoderConfig) -> None:
        """The states are copied layer by layer, so cell, depth and width must be the same."""
        _check_copy(self, encoder, "sutskever")


@dataclass(frozen=True)
class ReadoutConfig(DecoderConfig):
    """Base of the decoders that choose what the output matrix reads."""

    choice_defaults: ClassVar[Mapping[str, Any]] = {"readout_size": 128}

    readout: str = "maxout"
    """What the output matrix reads: maxout (of state, previous word and context, Bahdanau et al. 2015, A.2.2) or state
    (the state alone, as in the lectures)."""
    readout_size: int | None = None
    """l, the number of maxout units before the output matrix."""

    @classmethod
    def lacking(cls, options: Mapping[str, Any]) -> Mapping[str, str]:
        """What the chosen readout does not have: also a size of its own."""
        reasons = dict(super().lacking(options))
        if options.get("readout") == "state":
            reasons["readout_size"] = (
                'the readout "state" is as wide as the state; leave readout_size out, or choose maxout'
            )
        return reasons

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(f"{self.place}.readout", self.readout, READOUTS)
        self.fill_choices()
        self.check_choices(self.place)
        if self.readout_size is not None:
            in_range(f"{self.place}.readout_size", self.readout_size, 1, MAX_UNITS)


@dataclass(frozen=True)
class ChoConfig(ReadoutConfig):
    """One fixed context at every step, without attention (Cho et al. 2014)."""


@dataclass(frozen=True)
class BahdanauConfig(ReadoutConfig):
    """RNNsearch: the previous state attends, then the state is updated (Bahdanau et al. 2015)."""

    attention: AttentionConfig = field(default_factory=AttentionConfig)
    copy: bool = False
    """Whether words of the source can be copied, as by a pointer-generator (See et al. 2017, §2.2)."""
    bridge: str = "project"
    """The decoder's initial states: project (s_0 = tanh(W_s ←h_1), as in the paper) or copy (the encoder's last states
    unchanged, s_0 = h_m, as in the lectures)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.attention.check(f"{self.place}.attention")
        one_of(f"{self.place}.bridge", self.bridge, BRIDGES)

    def check_encoder(self, encoder: EncoderConfig) -> None:
        """The attention must fit the annotations; with ``bridge = "copy"``, cell, depth and width must be the same."""
        _check_attention(self, self.attention, encoder)
        if self.bridge == "copy":
            _check_copy(self, encoder, 'bahdanau with bridge = "copy"')


@dataclass(frozen=True)
class LuongConfig(DecoderConfig):
    """The state is updated, then the current state attends (Luong et al. 2015)."""

    attention: AttentionConfig = field(default_factory=AttentionConfig)
    readout_size: int = 256
    """l, the width of the attentional state h̃."""
    input_feeding: bool = True
    """Whether h̃_{t−1} is an input of the recurrence, beside the word (Luong et al. 2015, §3.3)."""
    bridge: str = "project"
    """The decoder's initial states: project (the encoder's last states, projected) or copy (the same, unchanged)."""
    copy: bool = False
    """Whether words of the source can be copied, as by a pointer-generator (See et al. 2017, §2.2)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.attention.check(f"{self.place}.attention")
        one_of(f"{self.place}.bridge", self.bridge, BRIDGES)
        in_range(f"{self.place}.readout_size", self.readout_size, 1, MAX_UNITS)

    def check_encoder(self, encoder: EncoderConfig) -> None:
        """The attention must fit the annotations; with ``bridge = "copy"``, cell, depth and width must be the same."""
        _check_attention(self, self.attention, encoder)
        if self.bridge == "copy":
            _check_copy(self, encoder, 'luong with bridge = "copy"')


@dataclass(frozen=True)
class HardMonotonicConfig(DecoderConfig):
    """Each word is written from one source word, and the alignment never goes back (Wu & Cotterell 2019).

    The sum over all monotone alignments is exact. It needs the probability of every target word at every source
    position, so it is for small vocabularies: characters, phones.
    """

    attention: AttentionConfig = field(default_factory=AttentionConfig)
    readout_size: int = 128
    """l, the units of tanh(W_c [h_j; s_i]) before the output matrix."""

    def __post_init__(self) -> None:
        super().__post_init__()
        place = f"{self.place}.attention"
        self.attention.check(place)
        in_range(f"{self.place}.readout_size", self.readout_size, 1, MAX_UNITS)
        for name, allowed in (
            ("window", "global"),
            ("coverage", False),
            ("normalizer", "softmax"),
            ("heads", 1),
        ):
            value = getattr(self.attention, name)
            if value != allowed:
                raise ConfigError(
                    f"{place}.{name} = {toml_value(value)}: hard-monotonic attends to one source word at a time, by a "
                    "softmax over those not yet passed; leave it out, or choose bahdanau or luong"
                )
        if self.attention.energy == "qkv":
            raise ConfigError(
                f'{place}.energy = "qkv": hard-monotonic reads the annotations themselves, not their projections; '
                "choose additive, concat, dot, scaled-dot or bilinear"
            )

    def check_encoder(self, encoder: EncoderConfig) -> None:
        """The attention must fit the annotations."""
        _check_attention(self, self.attention, encoder)


@dataclass(frozen=True)
class DeepFusionConfig(DecoderConfig):
    """An lstmn that attends to the tapes of the encoder's lstmn and to its own (Cheng et al. 2016, deep fusion)."""

    cell: str = "lstmn"
    """The recurrent cell: always lstmn."""
    attention: AttentionConfig = field(default_factory=AttentionConfig)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.attention.check(f"{self.place}.attention")
        for name, allowed in (("cell", "lstmn"), ("num_layers", 1)):
            if getattr(self, name) != allowed:
                raise ConfigError(
                    f"{self.place}.{name} = {getattr(self, name)!r}: deep-fusion is one layer of the cell lstmn; set "
                    f"{name} = {allowed!r}, or choose bahdanau over lstmn cells (shallow fusion)"
                )
        if self.attention.window != "global" or self.attention.coverage:
            raise ConfigError(
                f"{self.place}.attention: deep-fusion reads the source's tapes whole; window and coverage are allowed "
                "with bahdanau and luong"
            )
        if self.attention.heads > 1:
            raise ConfigError(
                f"{self.place}.attention.heads = {self.attention.heads}: deep-fusion reads the source's states and its "
                "memories with one p; leave heads out, or choose bahdanau or luong"
            )
        if self.attention.value_size:
            raise ConfigError(
                f"{self.place}.attention.value_size = {self.attention.value_size}: in deep-fusion the values are as "
                "wide as the states; leave it out, or choose bahdanau or luong"
            )

    def check_encoder(self, encoder: EncoderConfig) -> None:
        """The encoder must be a unidirectional lstmn that keeps all slots and is as wide as the decoder."""
        span = 0 if encoder.memory is None else encoder.memory.span
        for name, theirs, needed in (
            ("cell", encoder.cell, "lstmn"),
            ("bidirectional", encoder.bidirectional, False),
            ("reverse", encoder.reverse, False),
            ("memory.span", span, 0),
            ("state_size", encoder.state_size, self.state_size),
        ):
            if theirs != needed:
                raise ConfigError(
                    f"model.encoder.{name} = {theirs!r}: deep-fusion reads the tapes of a unidirectional lstmn that "
                    f"keeps every slot and is as wide as the decoder, which needs {name} = {needed!r}"
                )


def _check_attention(decoder: DecoderConfig, attention: AttentionConfig, encoder: EncoderConfig) -> None:
    """A dot product needs states as wide as the annotations; heads need a width that they divide."""
    wide = encoder.annotation_size
    if attention.energy in ("dot", "scaled-dot") and decoder.state_size != wide:
        raise ConfigError(
            f"model.decoder.attention.energy = {attention.energy!r}: it compares decoder states of "
            f"{decoder.state_size} units with annotations of {wide}; set model.decoder.state_size = {wide}, or choose "
            "bilinear"
        )
    _check_heads(attention, encoder)


def _check_heads(attention: AttentionConfig, encoder: EncoderConfig) -> None:
    wide = encoder.annotation_size
    if not attention.value_size and wide % attention.heads:
        raise ConfigError(
            f"model.decoder.attention.heads = {attention.heads}: annotations of {wide} units do not divide among "
            "them; choose a number of heads that does, another model.encoder.state_size, or a value_size"
        )


def _check_copy(decoder: DecoderConfig, encoder: EncoderConfig, who: str) -> None:
    for name, theirs in (
        ("cell", encoder.cell),
        ("num_layers", encoder.num_layers),
        ("state_size", encoder.annotation_size),
    ):
        ours = getattr(decoder, name)
        if ours != theirs:
            raise ConfigError(
                f"model.decoder.{name} = {ours!r}: {who} starts from the encoder's last states, which need "
                f"{name} = {theirs!r}"
            )


DecoderConfig.variants: Mapping[str, type[Config]] = {  # type: ignore[misc]
    "bahdanau": BahdanauConfig,
    "luong": LuongConfig,
    "cho": ChoConfig,
    "sutskever": SutskeverConfig,
    "deep-fusion": DeepFusionConfig,
    "hard-monotonic": HardMonotonicConfig,
}
