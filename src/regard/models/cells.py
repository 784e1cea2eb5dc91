"""From a configuration to what makes a stack's cells, their attention to their own past included."""

from functools import partial

from regard.layers import CELLS, LSTMN, Attention, CellFactory, SelfAttentive, build_attention
from regard.models.config import MemoryConfig, StackConfig


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
