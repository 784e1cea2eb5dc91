"""From a configuration to a cell: an option that a memory table leaves out has its default."""

import pytest

from regard.layers import CELLS, LSTMN, SelfAttentive
from regard.models import EncoderConfig, MemoryConfig
from regard.models.stack import cell_factory

KINDS = [name for name, kind in CELLS.items() if issubclass(kind, SelfAttentive)]


def shapes(kind: str, memory: MemoryConfig | None) -> dict[str, tuple[int, ...]]:
    cell = cell_factory(EncoderConfig(cell=kind, state_size=6, memory=memory))(3, 6)
    return {name: tuple(parameter.shape) for name, parameter in cell.named_parameters()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_changes_only_what_it_says(kind):
    assert shapes(kind, MemoryConfig(span=3)) == shapes(kind, MemoryConfig()) == shapes(kind, None)
    assert shapes(kind, None)["attention.v_a"] == (6,)
    assert shapes(kind, MemoryConfig(size=5))["attention.v_a"] == (5,)
    assert shapes(kind, MemoryConfig(energy="qkv"))["attention.W_K"] == (6, 6)


@pytest.mark.parametrize("kind", KINDS)
def test_span_output_and_normalizer_arrive(kind):
    options = {"output": "plain"} if kind == "lstmn" else {}
    memory = MemoryConfig(span=3, normalizer="sparsemax", **options)
    cell = cell_factory(EncoderConfig(cell=kind, state_size=6, memory=memory))(3, 6)
    assert isinstance(cell, SelfAttentive)
    assert cell.span == 3
    assert not cell.attention.plain
    if isinstance(cell, LSTMN):
        assert cell.output == "plain"
