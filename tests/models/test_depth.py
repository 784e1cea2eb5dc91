"""Groups by depth: every parameter once, the head first, layers from the top, embeddings last."""

import pytest

from regard.layers import CELLS
from regard.models import (
    CaptionerConfig,
    CaptionerNetwork,
    ClassifierConfig,
    ClassifierNetwork,
    EncoderConfig,
    LanguageModelConfig,
    LanguageModelNetwork,
    LuongConfig,
    ModelConfig,
    Seq2Seq,
    TaggerConfig,
    TaggerNetwork,
    groups_by_depth,
)

SIZES = {"embedding_size": 4, "state_size": 4}
TWO = EncoderConfig(num_layers=2, **SIZES)
ONE_WAY = EncoderConfig(bidirectional=False, **SIZES)
MODELS = {
    "translator": lambda: Seq2Seq(ModelConfig(TWO, LuongConfig(num_layers=3, **SIZES)), 9, 9),
    "translator, shared": lambda: Seq2Seq(
        ModelConfig(ONE_WAY, LuongConfig(readout_size=4, **SIZES), tie="all"), 9, 9
    ),
    "classifier": lambda: ClassifierNetwork(ClassifierConfig(TWO, hidden_size=3), 9, 2),
    "tagger": lambda: TaggerNetwork(TaggerConfig(TWO), 9, 2),
    "captioner": lambda: CaptionerNetwork(CaptionerConfig(), 3, 9),
    "tied": lambda: LanguageModelNetwork(LanguageModelConfig(tie=True, **SIZES), 9),
} | {
    cell: lambda cell=cell: LanguageModelNetwork(LanguageModelConfig(cell=cell, **SIZES), 9) for cell in CELLS
}


@pytest.mark.parametrize("build", MODELS.values(), ids=MODELS.keys())
def test_every_parameter_stands_in_one_group(build):
    model = build()
    grouped = [parameter for group in groups_by_depth(model) for parameter in group.parameters]
    assert len(grouped) == len(set(grouped))
    assert set(grouped) == set(model.parameters())


def names(model):
    """For each group the names of its parameters."""
    known = {parameter: name for name, parameter in model.named_parameters()}
    return {
        group.name: {known[parameter] for parameter in group.parameters} for group in groups_by_depth(model)
    }


def test_from_the_head_down():
    found = names(MODELS["classifier"]())
    assert list(found) == ["head", "layer 2", "layer 1", "embedding"]
    assert found["embedding"] == {"encoder.embedding.E"}
    for k in (1, 2):
        parts = [f"encoder.stack.{way}_layers.{k - 1}." for way in ("forward", "backward")]
        assert all(any(name.startswith(part) for part in parts) for name in found[f"layer {k}"])
        assert len(found[f"layer {k}"]) == 6
    assert all(name.startswith(("head.", "pooling.")) for name in found["head"])
    assert len(found["head"]) == 7


def test_the_layers_of_a_translator_stand_side_by_side():
    found = names(MODELS["translator"]())
    assert list(found) == ["head", "layer 3", "layer 2", "layer 1", "embedding"]
    assert found["embedding"] == {"encoder.embedding.E", "decoder.embedding.E"}
    assert all(name.startswith("decoder.stack.cells.2.") for name in found["layer 3"])
    assert {name.split(".")[0] for name in found["layer 2"]} == {"encoder", "decoder"}
    assert not any("stack" in name or "embedding" in name for name in found["head"])


def test_a_shared_matrix_is_the_embeddings():
    found = names(MODELS["tied"]())
    assert len(found["embedding"]) == 1
    assert found["head"] == {"output.b_o"}
