"""Weights copied from a language model compute what that model computes; layer groups hold every parameter once."""

import pytest
import torch

from regard.errors import ConfigError
from regard.layers import CELLS, Embedding
from regard.models import (
    BahdanauConfig,
    CaptionerConfig,
    CaptionerNetwork,
    ChoConfig,
    ClassifierConfig,
    ClassifierNetwork,
    EncoderConfig,
    LanguageModelConfig,
    LanguageModelNetwork,
    LuongConfig,
    ModelConfig,
    Seq2Seq,
    SutskeverConfig,
    TaggerConfig,
    TaggerNetwork,
)
from regard.models.encoder import Encoder
from regard.models.transfer import copy_pretrained, copy_trained, layer_groups

SIZES = {"embedding_size": 3, "state_size": 4}
IDS = torch.tensor([[4, 5, 6, 3], [7, 8, 3, 0]])
MASK = IDS != 0


@pytest.fixture
def model(scattered):
    def build(cell="gru", vocabulary_size=9, **options) -> LanguageModelNetwork:
        return scattered(
            LanguageModelNetwork(LanguageModelConfig(cell=cell, **SIZES | options), vocabulary_size)
        )

    return build


def encoder(cell="gru", vocabulary_size=9, **options) -> Encoder:
    config = EncoderConfig(cell=cell, **{"bidirectional": False} | SIZES | options)
    return Encoder(config, Embedding(vocabulary_size, config.embedding_size)).double().eval()


def tops(model: LanguageModelNetwork):
    return model.stack(model.embedding(IDS), MASK)[0]


@pytest.mark.parametrize("cell", CELLS)
def test_an_encoder_that_reads_one_way_reads_as_the_language_model(cell, model):
    trained, part = model(cell, num_layers=2), encoder(cell, num_layers=2)
    copied = copy_pretrained(trained, part)
    assert sorted(copied) == sorted(name for name, _ in part.named_parameters())
    assert copied[0] == "embedding.E"
    torch.testing.assert_close(part(IDS, MASK)[0], tops(trained))
    # copies, not the same tensors
    with torch.no_grad():
        part.embedding.E.add_(1)
    assert not torch.equal(part.embedding.E, trained.embedding.E)


def test_an_encoder_that_reads_both_ways_takes_its_forward_direction(model):
    trained, part = model(), encoder(bidirectional=True)
    untouched = part.stack.backward_layers[0].cells[0].U.clone()
    copied = copy_pretrained(trained, part)
    assert set(copied) == {"embedding.E", *(f"stack.forward_layers.0.cells.0.{name}" for name in "WUb")}
    assert torch.equal(part.stack.backward_layers[0].cells[0].U, untouched)
    torch.testing.assert_close(part(IDS, MASK)[0][..., :4], tops(trained))


@pytest.mark.parametrize("config", [BahdanauConfig, LuongConfig, SutskeverConfig])
def test_a_decoder_takes_embedding_and_stack(config, model):
    trained = model()
    sizes = {} if config is SutskeverConfig else {"readout_size": 3}
    encoder_config = EncoderConfig(bidirectional=False, **SIZES)
    translator = Seq2Seq(ModelConfig(encoder_config, config(**SIZES, **sizes)), 9, 9).double()
    copied = copy_pretrained(trained, translator.decoder)
    assert set(copied) == {"embedding.E", *(f"stack.cells.0.{name}" for name in "WUb")}
    decoder = translator.decoder
    torch.testing.assert_close(decoder.stack(decoder.embedding(IDS), MASK)[0], tops(trained))


def test_what_does_not_fit_names_both_shapes_and_nothing_is_copied(model):
    trained = model()
    misfits = {
        r"embedding\.E: \(8, 3\) here and \(9, 3\) in the language model": encoder(vocabulary_size=8),
        r"embedding\.E: \(9, 5\) here and \(9, 3\) in the language model": encoder(embedding_size=5),
        r"stack\.cells\.0\.W: \(18, 3\) here and \(12, 3\)": encoder(state_size=6),
        r"stack\.cells\.0 is a LSTM and the language model's layer 1 a GRU; use the same cell": encoder(
            "lstm"
        ),
        "2 layers cannot be copied from a language model of 1 into 2; copy 1": encoder(num_layers=2),
    }
    misfits[r"stack\.cells\.0\.b has no counterpart in the model to train; .*same bias"] = encoder(bias=False)
    for message, part in misfits.items():
        before = [parameter.detach().clone() for parameter in part.parameters()]
        with pytest.raises(ConfigError, match=message):
            copy_pretrained(trained, part)
        assert all(map(torch.equal, before, part.parameters()))
    with pytest.raises(
        ConfigError, match=r"stack\.forward_layers\.1\.cells\.0\.W: \(12, 8\) here and \(12, 4\)"
    ):
        copy_pretrained(model(num_layers=2), encoder(bidirectional=True, num_layers=2))
    config = ModelConfig(EncoderConfig(**SIZES), ChoConfig(**SIZES, readout_size=3))
    with pytest.raises(ConfigError, match=r"stack\.cells\.0\.W: \(12, 11\) here and \(12, 3\)"):
        copy_pretrained(trained, Seq2Seq(config, 9, 9).decoder)


def test_a_model_without_biases_does_not_take_them_from_one_that_has_them(model):
    """Its zeros are not trained and not saved, so they must stay zeros."""
    plain = model(bias=False)
    with pytest.raises(
        ConfigError, match=r"stack\.cells\.0\.b is missing, and \(12,\) in the model to start from"
    ):
        copy_trained(model(), plain)
    with pytest.raises(ConfigError, match=r"stack\.cells\.0\.b is \(12,\), and missing in the model"):
        copy_trained(plain, model())
    copy_trained(model(bias=False), plain)
    assert not any(buffer.any() for buffer in plain.buffers())


def test_the_bottom_layers_alone(model):
    trained, part = model(num_layers=2), encoder(bidirectional=True, num_layers=2)
    above = part.stack.forward_layers[1].cells[0].W.clone()
    copy_pretrained(trained, part, num_layers=1)
    assert torch.equal(part.stack.forward_layers[0].cells[0].W, trained.stack.cells[0].W)
    assert torch.equal(part.stack.forward_layers[1].cells[0].W, above)


EQUAL_SIZES = {"embedding_size": 4, "state_size": 4}
TWO = EncoderConfig(num_layers=2, **EQUAL_SIZES)
ONE_WAY = EncoderConfig(bidirectional=False, **EQUAL_SIZES)
MODELS = {
    "translator": lambda: Seq2Seq(ModelConfig(TWO, LuongConfig(num_layers=3, **EQUAL_SIZES)), 9, 9),
    "translator, shared": lambda: Seq2Seq(
        ModelConfig(ONE_WAY, LuongConfig(readout_size=4, **EQUAL_SIZES), tie="all"), 9, 9
    ),
    "classifier": lambda: ClassifierNetwork(ClassifierConfig(TWO, hidden_size=3), 9, 2),
    "tagger": lambda: TaggerNetwork(TaggerConfig(TWO), 9, 2),
    "captioner": lambda: CaptionerNetwork(CaptionerConfig(), 3, 9),
    "tied": lambda: LanguageModelNetwork(LanguageModelConfig(tie=True, **EQUAL_SIZES), 9),
} | {
    cell: lambda cell=cell: LanguageModelNetwork(LanguageModelConfig(cell=cell, **EQUAL_SIZES), 9)
    for cell in CELLS
}


@pytest.mark.parametrize("build", MODELS.values(), ids=MODELS.keys())
def test_every_parameter_is_in_one_group(build):
    model = build()
    grouped = [parameter for group in layer_groups(model) for parameter in group.parameters]
    assert len(grouped) == len(set(grouped))
    assert set(grouped) == set(model.parameters())


def names(model):
    """For each group the names of its parameters."""
    known = {parameter: name for name, parameter in model.named_parameters()}
    return {group.name: {known[parameter] for parameter in group.parameters} for group in layer_groups(model)}


def test_groups_run_from_the_head_down():
    groups = names(MODELS["classifier"]())
    assert list(groups) == ["head", "layer 2", "layer 1", "embedding"]
    assert groups["embedding"] == {"encoder.embedding.E"}
    for k in (1, 2):
        parts = [f"encoder.stack.{way}_layers.{k - 1}." for way in ("forward", "backward")]
        assert all(any(name.startswith(part) for part in parts) for name in groups[f"layer {k}"])
        assert len(groups[f"layer {k}"]) == 6
    assert all(name.startswith(("head.", "pooling.")) for name in groups["head"])
    assert len(groups["head"]) == 7


def test_the_layers_of_encoder_and_decoder_share_groups():
    groups = names(MODELS["translator"]())
    assert list(groups) == ["head", "layer 3", "layer 2", "layer 1", "embedding"]
    assert groups["embedding"] == {"encoder.embedding.E", "decoder.embedding.E"}
    assert all(name.startswith("decoder.stack.cells.2.") for name in groups["layer 3"])
    assert {name.split(".")[0] for name in groups["layer 2"]} == {"encoder", "decoder"}
    assert not any("stack" in name or "embedding" in name for name in groups["head"])


def test_a_shared_matrix_is_the_embeddings():
    groups = names(MODELS["tied"]())
    assert len(groups["embedding"]) == 1
    assert groups["head"] == {"output.b_o"}
