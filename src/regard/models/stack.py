"""The configuration that encoders, decoders and language models share, and the recurrent stack built from it.

In: a `StackConfig`, checked when it is made. Out: a `RecurrentStack` or a `BidirectionalStack`, with the cells'
attention to their own past if they have one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, TypeVar

from regard.config import Config, in_range, one_of
from regard.errors import ConfigError
from regard.layers import CELLS, LSTMN, Attention, CellFactory, SelfAttentive, build_attention
from regard.layers.recurrent import Stack
from regard.models.attention import MAX_UNITS, MemoryConfig

AnyStack = TypeVar("AnyStack", bound=Stack)


MAX_LAYERS = 100
"""Of a stack."""


def attends_to_past(cell: str) -> bool:
    """Whether a cell of `CELLS` attends to its own past."""
    return CELLS[cell].attends_to_past


@dataclass(frozen=True)
class StackConfig(Config):
    """An embedding and a stack of recurrent layers."""

    place: ClassVar[str]

    cell: str = "gru"
    """The recurrent cell: rnn, rnn-sigmoid, lstm, gru (of Cho et al. 2014) or gru-torch; a variant of the LSTM or GRU:
    lstm-1997, lstm-peephole, lstm-no-input, lstm-no-forget, lstm-no-output, mut1 or mut3; or one that attends to its
    own past: rnn-read, rnn-sum, rnn-sum-keep or lstmn."""
    embedding_size: int = 256
    """m, the width of a word's vector."""
    state_size: int = 256
    """n, the number of units of a layer, in each direction."""
    num_layers: int = 1
    """The number of layers."""
    residual: bool = False
    """Whether the input of each layer above the bottom one is added to its output."""
    dropout: float = 0.0
    """The probability of dropping a unit of the embeddings, between layers, and before the output matrix."""
    recurrent_dropout: float = 0.0
    """The probability of dropping a unit of the previous state, with one mask per sentence."""
    variational: bool = False
    """Whether dropout uses one mask for all words of a sentence (Gal & Ghahramani 2016)."""
    memory: MemoryConfig | None = None
    """The attention of a cell to its own past; by default additive, with as many alignment units as the state has."""
    bias: bool = field(default=True, kw_only=True)
    """Whether the cells have a bias b, and the output matrix that reads their states; the RNN of Sutskever et al. 2014
    (§2) has none."""

    @classmethod
    def lacking(cls, options: Mapping[str, Any]) -> Mapping[str, str]:
        """What the chosen cell does not have: a past to attend to, several heads, a memory c."""
        cell = options.get("cell")
        if not isinstance(cell, str) or cell not in CELLS:
            return {}
        if not attends_to_past(cell):
            return {
                "memory": f"the cell {cell!r} does not attend to its past; leave the table out, or choose one of "
                f"{', '.join(filter(attends_to_past, CELLS))}"
            }
        if issubclass(CELLS[cell], LSTMN):
            others = [name for name in filter(attends_to_past, CELLS) if not issubclass(CELLS[name], LSTMN)]
            return {
                "memory.heads": f"the cell {cell!r} reads its states and its memories with one alpha; leave heads out, "
                f"or choose one of {', '.join(others)}"
            }
        return {"memory.output": f'the cell {cell!r} has no memory c; it is an option of "lstmn"'}

    def __post_init__(self) -> None:
        one_of(f"{self.place}.cell", self.cell, CELLS)
        for name in ("embedding_size", "state_size"):
            in_range(f"{self.place}.{name}", getattr(self, name), 1, MAX_UNITS)
        in_range(f"{self.place}.num_layers", self.num_layers, 1, MAX_LAYERS)
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


def build_stack(kind: type[AnyStack], config: StackConfig, input_size: int) -> AnyStack:
    """The recurrent layers of a configuration, in one direction or both, over inputs of `input_size`."""
    return kind(
        cell_factory(config),
        input_size,
        config.state_size,
        config.num_layers,
        residual=config.residual,
        dropout=config.dropout,
        recurrent_dropout=config.recurrent_dropout,
        variational=config.variational,
    )


def cell_factory(config: StackConfig) -> CellFactory:
    """(input size, state size) → a cell of the kind that `config` names.

    Without a table `memory`, a cell that attends to its own past has additive attention with as many alignment units as
    its state has.
    """
    kind = CELLS[config.cell]
    options: dict[str, Any] = {} if config.bias else {"bias": False}
    memory = config.memory
    if memory is not None and issubclass(kind, SelfAttentive):
        options |= {"attention": partial(_build_memory_attention, memory), "span": memory.span}
        if issubclass(kind, LSTMN):
            options["output"] = memory.output
    return partial(kind, **options)


def _build_memory_attention(memory: MemoryConfig, query_size: int | None, annotation_size: int) -> Attention:
    return build_attention(
        memory.energy,
        query_size,
        annotation_size,
        memory.size or annotation_size,
        heads=memory.heads,
        normalizer=memory.normalizer,
        scaled=memory.scaled,
    )
