"""The papers' rules for initialising parameters: ranges, deviations, orthogonality."""

import pytest
import torch

from regard.layers import LSTM, Additive, Cell, SelfAttentive
from regard.models import (
    AttentionConfig,
    BahdanauConfig,
    EncoderConfig,
    LuongConfig,
    MemoryConfig,
    ModelConfig,
    Seq2Seq,
)
from regard.models.decoders.config import DeepFusionConfig


def model(initialization: str, cell: str = "gru", **options: object) -> Seq2Seq:
    encoder = EncoderConfig(cell=cell, state_size=24, embedding_size=32)
    decoder = BahdanauConfig(
        cell=cell,
        state_size=40,
        embedding_size=32,
        readout_size=16,
        attention=AttentionConfig(size=48),
        **options,
    )
    return Seq2Seq(ModelConfig(encoder, decoder, initialization=initialization), 300, 300)


def biases(built: Seq2Seq):
    return {name: value for name, value in built.named_parameters() if value.dim() == 1}


@pytest.mark.parametrize(("rule", "bound"), [("zaremba", 0.05), ("sutskever", 0.08), ("luong", 0.1)])
def test_uniform_rules_fill_every_parameter_within_their_bound(rule, bound):
    for name, value in model(rule, "lstm").named_parameters():
        assert value.abs().max() <= bound, name
        if value.numel() > 1000:
            # a uniform's deviation is bound/√3; 1,000 draws fix it to about 2 %
            assert value.std().item() == pytest.approx(bound / 3**0.5, rel=0.1), name
            assert value.abs().max() > 0.98 * bound, name


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_bahdanaus_rule(cell):
    built = model("bahdanau", cell)
    attention = built.decoder.attention
    assert isinstance(attention, Additive)
    for module in built.modules():
        if isinstance(module, Cell):
            for block in module.U.chunk(module.num_gates):
                torch.testing.assert_close(block @ block.T, torch.eye(len(block)), rtol=0, atol=1e-5)
            assert module.W.std().item() == pytest.approx(0.01, rel=0.1)
            forget = slice(module.state_size, 2 * module.state_size)
            expected = torch.zeros_like(module.b)
            if isinstance(module, LSTM):
                expected[forget] = 1
            assert torch.equal(module.b, expected)
    for name in ("W_a", "U_a"):
        assert getattr(attention, name).std().item() == pytest.approx(0.001, rel=0.1)
    assert torch.equal(attention.v_a, torch.zeros(48))
    for name in ("embedding.E", "output.W_o", "C", "readout.C_o.weight", "start.W_s.0.weight"):
        assert built.decoder.get_parameter(name).std().item() == pytest.approx(0.01, rel=0.15), name
    plain = {name: value for name, value in biases(built).items() if not name.endswith(".b")}
    assert plain
    assert all(torch.equal(value, torch.zeros_like(value)) for value in plain.values())


def test_bahdanaus_rule_in_deep_fusion():
    """R is a recurrent block; both queries are the alignment model's, the rows of the word among them."""
    part = {"cell": "lstmn", "state_size": 24, "embedding_size": 32}
    config = ModelConfig(
        EncoderConfig(bidirectional=False, **part),
        DeepFusionConfig(attention=AttentionConfig(size=48), **part),
        initialization="bahdanau",
    )
    decoder = Seq2Seq(config, 30, 30).decoder
    cell = decoder.cell
    torch.testing.assert_close(decoder.R @ decoder.R.T, torch.eye(24), rtol=0, atol=1e-5)
    own = (cell.S, cell.W[4 * 24 :], cell.attention.U_a)
    for matrix in (*own, decoder.S_r, decoder.W_r[24:], decoder.attention.U_a):
        assert matrix.std().item() == pytest.approx(0.001, rel=0.1)
    for matrix in (cell.W[: 4 * 24], decoder.W_r[:24]):
        assert matrix.std().item() == pytest.approx(0.01, rel=0.1)
    assert torch.equal(cell.b, torch.tensor([0.0, 1, 0, 0]).repeat_interleave(24))


@pytest.mark.parametrize(
    ("cell", "energy"), [("rnn-sum", "additive"), ("rnn-sum", "concat"), ("rnn-read", "dot")]
)
def test_bahdanaus_rule_for_what_a_memory_compares(cell, energy):
    encoder = EncoderConfig(cell=cell, state_size=24, embedding_size=32, memory=MemoryConfig(energy=energy))
    attention = AttentionConfig(energy="concat", size=48)
    config = ModelConfig(encoder, BahdanauConfig(attention=attention), initialization="bahdanau")
    model = Seq2Seq(config, 30, 30)
    (first, *_) = [module for module in model.encoder.modules() if isinstance(module, SelfAttentive)]
    small = [model.decoder.attention.W_a]
    if cell == "rnn-read":
        small += [first.S, first.W[24:]]
    else:
        small += [first.query_matrix, first.scoring.U_a]
    for matrix in small:
        assert matrix.std().item() == pytest.approx(0.001, rel=0.1)
    assert first.W[:24].std().item() == pytest.approx(0.01, rel=0.1)


def test_glorots_rule_is_what_the_layers_do_by_themselves():
    built = model("glorot")
    cell = built.decoder.stack.layers[0]
    for block in cell.U.chunk(3):
        torch.testing.assert_close(block @ block.T, torch.eye(40), rtol=0, atol=1e-5)
    W_a = built.decoder.attention.W_a
    bound = (6 / (48 + 40)) ** 0.5
    assert 0.97 * bound < W_a.abs().max() <= bound
    assert built.decoder.embedding.E.std().item() == pytest.approx(32**-0.5, rel=0.05)


def test_equal_seeds_give_equal_models_and_others_do_not():
    built = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        built.append(model("glorot").state_dict())
    assert all(torch.equal(built[0][name], built[1][name]) for name in built[0])
    assert not torch.equal(built[0]["decoder.embedding.E"], built[2]["decoder.embedding.E"])


def test_tied_matrices_are_set_once():
    config = ModelConfig(
        EncoderConfig(bidirectional=False, embedding_size=256),
        LuongConfig(),
        tie="all",
        initialization="luong",
    )
    built = Seq2Seq(config, 50, 50)
    assert built.encoder.embedding.E is built.decoder.output.W_o
    assert built.decoder.output.W_o.abs().max() <= 0.1
