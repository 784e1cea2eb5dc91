"""What every recurrent part has in common, language models included: an embedding and a stack of layers.

From a configuration to what makes a stack's cells, their attention to their own past included.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from regard.config import Config, in_range, one_of
from regard.errors import ConfigError
from regard.layers import CELLS, LSTMN, Attention, CellFactory, SelfAttentive, build_attention
from regard.models.attention import MemoryConfig


def remembers(cell: str) -> bool:
    """Whether a cell of `CELLS`, one's own among them, attends to its own past."""
    return issubclass(CELLS[cell], SelfAttentive)


@dataclass(frozen=True)
class StackConfig(Config):
    """What encoders, decoders and language models have in common: an embedding and a stack of recurrent layers."""

    place: ClassVar[str]

    cell: str = "gru"
    """rnn, rnn-sigmoid, lstm, gru (the paper's form) or gru-torch; attending to their own past, rnn-read, rnn-sum,
    rnn-sum-keep or lstmn."""
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
    memory: MemoryConfig | None = None
    """How a cell that attends to its own past does so; by default additively, with as many units as the state has."""

    @classmethod
    def lacking(cls, options: Mapping[str, Any]) -> Mapping[str, str]:
        """What the chosen cell does not have: a past to attend to, several heads, a memory c to put out."""
        cell = options.get("cell")
        if not isinstance(cell, str) or cell not in CELLS:
            return {}
        if not remembers(cell):
            return {
                "memory": f"the cell {cell!r} does not attend to its past; leave the table out, or choose one of "
                f"{', '.join(filter(remembers, CELLS))}"
            }
        if issubclass(CELLS[cell], LSTMN):
            others = [name for name in filter(remembers, CELLS) if not issubclass(CELLS[name], LSTMN)]
            return {
                "memory.heads": f"the cell {cell!r} reads its states and its memories with one alpha; leave heads out, "
                f"or choose one of {', '.join(others)}"
            }
        return {"memory.output": f'the cell {cell!r} has no memory c to put out; it is an option of "lstmn"'}

    def __post_init__(self) -> None:
        one_of(f"{self.place}.cell", self.cell, CELLS)
        for name in ("embedding_size", "state_size", "num_layers"):
            in_range(f"{self.place}.{name}", getattr(self, name), 1)
        for name in ("dropout", "recurrent_dropout"):
            in_range(f"{self.place}.{name}", getattr(self, name), 0, below=1)
        if self.memory is None:
            return
        self.memory.check(f"{self.place}.memory")
        if self.state_size % self.memory.heads:
            raise ConfigError(
                f"{self.place}.memory.heads = {self.memory.heads}: states of {self.state_size} units do not divide "
                f"among them; choose a number of heads that does, or another {self.place}.state_size"
            )
        self.check_choices(self.place)


def cell_of(config: StackConfig) -> CellFactory:
    """(input size, state size) → a cell of the kind that `config` names.

    Args:
        config: of an encoder, a decoder or a language model; without a table `memory`, a cell that attends to its
            own past does so additively, with as many alignment units as its state has.
    """
    kind = CELLS[config.cell]
    memory = config.memory
    if memory is None or not issubclass(kind, SelfAttentive):
        return kind
    attention = partial(_attention_of, memory)
    if issubclass(kind, LSTMN):
        return partial(kind, attention=attention, span=memory.span, output=memory.output)
    return partial(kind, attention=attention, span=memory.span)


def _attention_of(memory: MemoryConfig, query_size: int | None, annotation_size: int) -> Attention:
    return build_attention(
        memory.energy,
        query_size,
        annotation_size,
        memory.size or annotation_size,
        heads=memory.heads,
        normalizer=memory.normalizer,
    )
