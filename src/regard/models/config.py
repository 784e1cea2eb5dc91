"""What a sequence-to-sequence model is made of: one dataclass for each part, checked where it is made."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from regard.configuration import Config, in_range, one_of
from regard.errors import ConfigError
from regard.layers import CELLS, ENERGIES

TIES = ("none", "target", "all")
INITIALIZATIONS = ("glorot", "bahdanau", "sutskever", "luong")


@dataclass(frozen=True)
class StackConfig(Config):
    """What encoder and decoder have in common: an embedding and a stack of recurrent layers."""

    place: ClassVar[str]

    cell: str = "gru"
    """rnn, rnn-sigmoid, lstm, gru (the paper's form) or gru-torch."""
    embedding_size: int = 256
    """m, the width of a word's vector."""
    state_size: int = 256
    """n, the units of a layer, each way."""
    num_layers: int = 1
    """How many layers are stacked."""
    residual: bool = False
    """Add each layer's input to its output, above the bottom layer."""
    dropout: float = 0.0
    """On embeddings, between layers, and before the output."""
    recurrent_dropout: float = 0.0
    """On the previous state, one mask a sentence."""
    variational: bool = False
    """One dropout mask for all words of a sentence."""

    def __post_init__(self) -> None:
        one_of(f"{self.place}.cell", self.cell, CELLS)
        for name in ("embedding_size", "state_size", "num_layers"):
            in_range(f"{self.place}.{name}", getattr(self, name), 1)
        for name in ("dropout", "recurrent_dropout"):
            in_range(f"{self.place}.{name}", getattr(self, name), 0, below=1)


@dataclass(frozen=True)
class EncoderConfig(StackConfig):
    """source_ids → annotations."""

    place = "model.encoder"

    bidirectional: bool = True
    """Read the sentence both ways; annotations are then 2n wide."""
    reverse: bool = False
    """Read the source from its last word to its first (Sutskever et al. 2014, §3.3)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bidirectional and self.reverse:
            raise ConfigError(
                "model.encoder: reverse means nothing to a bidirectional encoder; drop one of the two"
            )

    @property
    def annotation_size(self) -> int:
        """The width of an annotation h_j."""
        return self.state_size * (2 if self.bidirectional else 1)


@dataclass(frozen=True)
class DecoderConfig(StackConfig):
    """Base of the decoders; `kind` in a file chooses among `variants`."""

    place = "model.decoder"

    @property
    def output_size(self) -> int:
        """What the output matrix reads: the readout, or the state where there is none."""
        return int(getattr(self, "readout_size", self.state_size))

    def check_encoder(self, encoder: EncoderConfig) -> None:
        """Raise where this decoder cannot follow that encoder."""


@dataclass(frozen=True)
class SutskeverConfig(DecoderConfig):
    """The encoder's last state is all the decoder gets (Sutskever et al. 2014)."""

    def check_encoder(self, encoder: EncoderConfig) -> None:
        """The states are handed over layer by layer, so the two stacks must match."""
        _check_copy(self, encoder, "sutskever")


@dataclass(frozen=True)
class ChoConfig(DecoderConfig):
    """A fixed context, seen at each step (Cho et al. 2014)."""

    readout_size: int = 128
    """l, the maxout units."""

    def __post_init__(self) -> None:
        super().__post_init__()
        in_range(f"{self.place}.readout_size", self.readout_size, 1)


@dataclass(frozen=True)
class BahdanauConfig(DecoderConfig):
    """RNNsearch: the previous state attends, then the recurrence (Bahdanau et al. 2015)."""

    energy: str = "additive"
    """additive, concat, dot, scaled-dot or bilinear."""
    alignment_size: int = 256
    """a, the alignment units of the additive and concat energies."""
    readout_size: int = 128
    """l, the maxout units."""

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(f"{self.place}.energy", self.energy, ENERGIES)
        in_range(f"{self.place}.alignment_size", self.alignment_size, 1)
        in_range(f"{self.place}.readout_size", self.readout_size, 1)

    def check_encoder(self, encoder: EncoderConfig) -> None:
        """A dot product needs states as wide as the annotations."""
        _check_dot(self, encoder)


@dataclass(frozen=True)
class LuongConfig(DecoderConfig):
    """The recurrence, then the current state attends (Luong et al. 2015)."""

    energy: str = "bilinear"
    """additive, concat, dot, scaled-dot or bilinear (Luong's "general")."""
    alignment_size: int = 256
    """a, the alignment units of the additive and concat energies."""
    readout_size: int = 256
    """The width of the attentional state h̃."""
    input_feeding: bool = True
    """Give h̃_{t−1} to the recurrence beside the word (§3.3)."""
    bridge: str = "project"
    """How the decoder starts: project the encoder's last states, or copy them where they fit."""

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(f"{self.place}.energy", self.energy, ENERGIES)
        one_of(f"{self.place}.bridge", self.bridge, ("copy", "project"))
        in_range(f"{self.place}.alignment_size", self.alignment_size, 1)
        in_range(f"{self.place}.readout_size", self.readout_size, 1)

    def check_encoder(self, encoder: EncoderConfig) -> None:
        """A dot product needs equal widths; with ``bridge = "copy"`` the two stacks must match altogether."""
        _check_dot(self, encoder)
        if self.bridge == "copy":
            _check_copy(self, encoder, 'luong with bridge = "copy"')


def _check_dot(decoder: BahdanauConfig | LuongConfig, encoder: EncoderConfig) -> None:
    wide = encoder.annotation_size
    if decoder.energy in ("dot", "scaled-dot") and decoder.state_size != wide:
        raise ConfigError(
            f"model.decoder.energy = {decoder.energy!r}: it compares decoder states of {decoder.state_size} "
            f"units with annotations of {wide}; set model.decoder.state_size = {wide}, or choose bilinear"
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
}


@dataclass(frozen=True)
class ModelConfig(Config):
    """A whole encoder–decoder."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    decoder: DecoderConfig = field(default_factory=BahdanauConfig)
    tie: str = "none"
    """Share matrices: none; target (the target embedding is the output matrix); all (the source's too)."""
    initialization: str = "glorot"
    """glorot, or a paper's own rule: bahdanau, sutskever, luong."""

    def __post_init__(self) -> None:
        one_of("model.tie", self.tie, TIES)
        one_of("model.initialization", self.initialization, INITIALIZATIONS)
        self.decoder.check_encoder(self.encoder)
        m = self.decoder.embedding_size
        read = self.decoder.output_size
        if self.tie != "none" and read != m:
            raise ConfigError(
                f'model.tie = "{self.tie}": the output matrix reads {read} units and the target embedding '
                f"has {m}; make them equal to share one matrix"
            )
        if self.tie == "all" and self.encoder.embedding_size != m:
            raise ConfigError(
                f'model.tie = "all": the source embedding has {self.encoder.embedding_size} units and the '
                f"target embedding {m}; make them equal to share one matrix"
            )
