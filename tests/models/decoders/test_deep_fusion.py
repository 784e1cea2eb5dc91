"""Deep fusion as a decoder: its initial state, its outputs, and the encoders that it refuses."""

import pytest
import torch

from regard.errors import ConfigError
from regard.models import DeepFusionConfig, EncoderConfig, ModelConfig
from regard.models.attention import AttentionConfig, MemoryConfig
from regard.ops.deep_fusion import Alphas

SOURCE = torch.tensor([[4, 5, 6, 3], [7, 3, 0, 0]])
MASK = SOURCE != 0
PREVIOUS = torch.tensor([[2, 4, 5], [2, 8, 6]])
ONE_WAY = {"bidirectional": False, "state_size": 4}


def fused(tiny_model, **options):
    return tiny_model("deep-fusion", "lstmn", encoder=ONE_WAY, **options)


def test_it_starts_from_the_encoders_last_state_in_slot_0(tiny_model):
    model = fused(tiny_model)
    encoded = model.encode(SOURCE, MASK)
    ((h, c, s, reading, _, values, memories, valid),) = model.decoder.initial_state(encoded).cells
    (last_h, last_c) = encoded.forward_last[-1]
    for part, expected in ((h, last_h), (c, last_c), (values[:, 0], last_h), (memories[:, 0], last_c)):
        torch.testing.assert_close(part, expected, rtol=0, atol=0)
    assert valid.tolist() == [[True], [True]]
    assert not s.any()
    assert not reading.any()


def test_memories_come_with_the_source_and_are_selected_with_it(tiny_model):
    encoded = fused(tiny_model).encode(SOURCE, MASK)
    assert encoded.memories.shape == (2, 4, 4)
    torch.testing.assert_close(encoded.memories[0, 3], encoded.forward_last[-1][1][0], rtol=0, atol=0)
    torch.testing.assert_close(encoded.memories[1, 1], encoded.forward_last[-1][1][1], rtol=0, atol=0)
    chosen = encoded.select(torch.tensor([1]))
    assert torch.equal(chosen.memories, encoded.memories[1:])
    # other encoders have none
    assert tiny_model("bahdanau", "lstmn").encode(SOURCE, MASK).memories is None
    reversed_ = tiny_model("cho", "lstmn", encoder=ONE_WAY | {"reverse": True})
    assert reversed_.encode(SOURCE, MASK).memories is None
    spanned = tiny_model("cho", "lstmn", encoder=ONE_WAY | {"memory": {"span": 2}})
    assert spanned.encode(SOURCE, MASK).memories is None


def test_alpha_of_a_step_is_over_the_source_and_forward_with_alpha_gives_both(tiny_model):
    model = fused(tiny_model)
    encoded = model.encode(SOURCE, MASK)
    unrolled = model.decoder(PREVIOUS, torch.ones_like(PREVIOUS, dtype=torch.bool), encoded)
    alphas = model.decoder.forward_with_alpha(PREVIOUS, encoded)
    assert isinstance(alphas, Alphas)
    assert torch.equal(unrolled.alpha, alphas.source)
    assert alphas.source.shape == (2, 3, 4)
    assert torch.equal(alphas.source > 0, MASK.unsqueeze(1).expand(2, 3, 4))
    # its own past: slot 0 is the start
    assert torch.equal(alphas.own > 0, torch.ones(2, 3, 4, dtype=torch.bool).tril())
    torch.testing.assert_close(alphas.own.sum(dim=-1), torch.ones(2, 3, dtype=torch.float64))


def test_the_output_reads_the_state(tiny_model):
    model = fused(tiny_model)
    encoded = model.encode(SOURCE, MASK)
    out = model.decoder.step(PREVIOUS[:, 0], model.decoder.initial_state(encoded), encoded)
    torch.testing.assert_close(out.logits, model.decoder.output(out.state.cells[0][0]), rtol=0, atol=0)


def test_the_memory_of_a_padded_source_word_is_never_read(tiny_model):
    model = fused(tiny_model)
    wide = torch.cat([SOURCE, torch.full((2, 2), 8)], dim=1)
    mask = torch.cat([MASK, torch.zeros(2, 2, dtype=torch.bool)], dim=1)
    logits = []
    for ids, real in ((SOURCE, MASK), (wide, mask)):
        encoded = model.encode(ids, real)
        logits.append(
            model.decoder.step(PREVIOUS[:, 0], model.decoder.initial_state(encoded), encoded).logits
        )
    torch.testing.assert_close(*logits, rtol=0, atol=1e-13)


ENCODER = {"cell": "lstmn", "bidirectional": False, "state_size": 8}
REFUSED = {
    "another cell": ({"cell": "lstm"}, r"model\.encoder\.cell = 'lstm'.*needs cell = 'lstmn'"),
    "both ways": ({"bidirectional": True}, r"model\.encoder\.bidirectional = True.*bidirectional = False"),
    "reversed": ({"reverse": True}, r"model\.encoder\.reverse = True.*reverse = False"),
    "forgetful": ({"memory": MemoryConfig(span=3)}, r"model\.encoder\.memory\.span = 3.*memory\.span = 0"),
    "another width": ({"state_size": 6}, r"model\.encoder\.state_size = 6.*state_size = 8"),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_encoders_that_do_not_fit_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        ModelConfig(EncoderConfig(**ENCODER | options), DeepFusionConfig(state_size=8))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cell": "gru"}, r"model\.decoder\.cell = 'gru'.*cell = 'lstmn'.*shallow fusion"),
        ({"num_layers": 2}, r"model\.decoder\.num_layers = 2.*num_layers = 1"),
        ({"attention": AttentionConfig(window="local-m")}, r"model\.decoder\.attention.*bahdanau and luong"),
        ({"attention": AttentionConfig(coverage=True)}, r"model\.decoder\.attention.*bahdanau and luong"),
    ],
)
def test_options_that_it_does_not_have_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        DeepFusionConfig(**options)


def readout_of(model):
    encoded = model.encode(SOURCE, MASK)
    return model.decoder(PREVIOUS, torch.ones_like(PREVIOUS, dtype=torch.bool), encoded).readout


def test_dropout_of_states_acts_only_in_training(tiny_model):
    """One mask for s_t and γ̃_t is the only dropout, so differences come through the gates."""
    model = fused(tiny_model, recurrent_dropout=0.5)
    assert torch.equal(readout_of(model.eval()), readout_of(model))
    torch.manual_seed(1)
    first, second = readout_of(model.train()), readout_of(model)
    assert (first != second).any()
    assert (first != 0).all()


def test_dropout_before_the_output(tiny_model):
    model = fused(tiny_model, dropout=0.5)
    assert (readout_of(model.eval()) != 0).all()
    torch.manual_seed(1)
    dropped = readout_of(model.train()) == 0
    assert dropped.any()
    assert not dropped.all()
