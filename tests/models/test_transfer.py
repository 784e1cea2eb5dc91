"""Weights carried over: a part that starts from a language model computes what that model computes."""

import pytest
import torch

from regard.errors import ConfigError
from regard.layers import CELLS, Embedding
from regard.models import (
    BahdanauConfig,
    ChoConfig,
    EncoderConfig,
    LanguageModelConfig,
    LanguageModelNetwork,
    LuongConfig,
    ModelConfig,
    Seq2Seq,
    SutskeverConfig,
    carry_over,
)
from regard.models.encoder import Encoder

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
    copied = carry_over(trained, part)
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
    copied = carry_over(trained, part)
    assert set(copied) == {"embedding.E", *(f"stack.forward_layers.0.cells.0.{name}" for name in "WUb")}
    assert torch.equal(part.stack.backward_layers[0].cells[0].U, untouched)
    torch.testing.assert_close(part(IDS, MASK)[0][..., :4], tops(trained))


@pytest.mark.parametrize("config", [BahdanauConfig, LuongConfig, SutskeverConfig])
def test_a_decoder_takes_embedding_and_stack(config, model):
    trained = model()
    sizes = {} if config is SutskeverConfig else {"readout_size": 3}
    encoder_config = EncoderConfig(bidirectional=False, **SIZES)
    translator = Seq2Seq(ModelConfig(encoder_config, config(**SIZES, **sizes)), 9, 9).double()
    copied = carry_over(trained, translator.decoder)
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
        "2 layers cannot be carried over from a language model of 1 into 2; carry over 1": encoder(
            num_layers=2
        ),
    }
    for message, part in misfits.items():
        before = [parameter.detach().clone() for parameter in part.parameters()]
        with pytest.raises(ConfigError, match=message):
            carry_over(trained, part)
        assert all(map(torch.equal, before, part.parameters()))
    with pytest.raises(
        ConfigError, match=r"stack\.forward_layers\.1\.cells\.0\.W: \(12, 8\) here and \(12, 4\)"
    ):
        carry_over(model(num_layers=2), encoder(bidirectional=True, num_layers=2))
    config = ModelConfig(EncoderConfig(**SIZES), ChoConfig(**SIZES, readout_size=3))
    with pytest.raises(ConfigError, match=r"stack\.cells\.0\.W: \(12, 11\) here and \(12, 3\)"):
        carry_over(trained, Seq2Seq(config, 9, 9).decoder)


def test_the_bottom_layers_alone(model):
    trained, part = model(num_layers=2), encoder(bidirectional=True, num_layers=2)
    above = part.stack.forward_layers[1].cells[0].W.clone()
    carry_over(trained, part, num_layers=1)
    assert torch.equal(part.stack.forward_layers[0].cells[0].W, trained.stack.cells[0].W)
    assert torch.equal(part.stack.forward_layers[1].cells[0].W, above)
