"""Luong's decoder against his equations, one sentence at a time."""

import math

import pytest
import torch

from regard.models.decoders import luong
from regard.ops import explain
from regard.ops.paths import naive_only

SOURCE = torch.tensor([[4, 5, 6, 3]])
MASK = torch.ones(1, 4, dtype=torch.bool)


def lstm(cell, x, h, c, fed):
    i, f, candidate, o = (cell.W @ x + cell.U @ h + cell.b + fed).chunk(4)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(candidate)
    return torch.sigmoid(o) * torch.tanh(c), c


@pytest.mark.parametrize("input_feeding", [False, True])
def test_trap_4_the_current_state_attends(input_feeding, tiny_model):
    """h_t = f(h_{t−1}, [y_{t−1}; h̃_{t−1}]); a_t from h_t; h̃_t = tanh(W_c [c_t; h_t])."""
    model = tiny_model("luong", "lstm", attention={"energy": "bilinear"}, input_feeding=input_feeding)
    decoder = model.decoder
    annotations = model.encode(SOURCE, MASK).annotations[0]
    encoded = model.encode(SOURCE, MASK)
    state = decoder.initial_state(encoded)
    ((h, c),) = [[part[0] for part in cell] for cell in state.cells]
    attentional = torch.zeros(3, dtype=torch.float64)
    for previous_id in (2, 7, 5):
        output = decoder.step(torch.tensor([previous_id]), state, encoded)
        fed = decoder.F @ attentional if input_feeding else 0
        before = h
        h, c = lstm(decoder.stack.layers[0], decoder.embedding.E[previous_id], h, c, fed)
        alpha = torch.softmax(annotations @ (decoder.attention.W_a.T @ h), dim=0)
        wrong = torch.softmax(annotations @ (decoder.attention.W_a.T @ before), dim=0)
        torch.testing.assert_close(output.alpha[0], alpha)
        assert (output.alpha[0] - wrong).abs().max() > 0.001, "the example must distinguish the two"
        context = alpha @ annotations
        attentional = torch.tanh(decoder.readout.W_c.weight @ torch.cat([context, h]))
        torch.testing.assert_close(output.logits[0], decoder.output.W_o @ attentional + decoder.output.b_o)
        state = output.state


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_the_start_is_the_encoders_last_states_side_by_side(cell, tiny_model):
    model = tiny_model("luong", cell, num_layers=2, bridge="copy")
    encoded = model.encode(SOURCE, MASK)
    state = model.decoder.initial_state(encoded)
    for layer in range(2):
        for part, (ahead, back) in enumerate(
            zip(encoded.forward_last[layer], encoded.backward_last[layer], strict=True)
        ):
            assert torch.equal(state.cells[layer][part], torch.cat([ahead, back], dim=-1))
    assert torch.equal(state.attentional_state, torch.zeros(1, 3, dtype=torch.float64))


def test_a_projected_start_frees_the_decoder_of_the_encoders_shape(tiny_model):
    model = tiny_model(
        "luong", "lstm", bridge="project", state_size=5, encoder={"cell": "gru", "num_layers": 3}
    )
    encoded = model.encode(SOURCE, MASK)
    ((h, c),) = model.decoder.initial_state(encoded).cells
    W_s = model.decoder.start.W_s[0]
    summary = torch.cat([encoded.forward_last[-1][0][0], encoded.backward_last[-1][0][0]])
    torch.testing.assert_close(h[0], torch.tanh(W_s.weight @ summary + W_s.bias))
    assert torch.equal(c, torch.zeros(1, 5, dtype=torch.float64))


def test_without_input_feeding_no_attentional_state_is_carried(tiny_model):
    model = tiny_model("luong", input_feeding=False)
    encoded = model.encode(SOURCE, MASK)
    state = model.decoder.initial_state(encoded)
    assert state.attentional_state is None
    assert model.decoder.step(torch.tensor([2]), state, encoded).state.attentional_state is None


@pytest.mark.parametrize(
    ("attention", "calls"),
    [({"energy": "dot"}, 1), ({"energy": "dot", "window": "local-m"}, 1), ({"coverage": True}, 3)],
)
def test_a_whole_sentence_attends_at_once_unless_a_step_needs_the_one_before(
    attention, calls, tiny_model, monkeypatch
):
    model = tiny_model("luong", input_feeding=False, attention=attention)
    layer, made = model.decoder.attention, []
    real = layer._align
    monkeypatch.setattr(layer, "_align", lambda *args: made.append(1) or real(*args))
    model.decoder(torch.tensor([[2, 5, 6]]), torch.ones(1, 3, dtype=torch.bool), model.encode(SOURCE, MASK))
    assert len(made) == calls


def whole_sentence(model):
    """Readouts and alpha of two sentences, one padded on both sides, and the gradient to every parameter."""
    torch.manual_seed(11)  # the same dropout
    source, previous = torch.tensor([[4, 5, 6, 3], [7, 3, 0, 0]]), torch.tensor([[2, 5, 6], [2, 8, 0]])
    unrolled = model.decoder(previous, previous > 0, model.encode(source, source > 0))
    loss = (unrolled.readout**2).sum() + (unrolled.alpha**3).sum()
    gradients = torch.autograd.grad(loss, list(model.parameters()), materialize_grads=True)
    return [unrolled.readout, unrolled.alpha, *gradients]


@pytest.mark.parametrize(
    ("options", "backend"),
    [
        *[
            ({"attention": {"energy": energy}}, "torch")
            for energy in ("additive", "concat", "dot", "scaled-dot", "bilinear", "qk", "qkv")
        ],
        ({"attention": {"energy": "qkv", "scaled": False, "value_size": 5}}, "torch"),
        ({"dropout": 0.4}, "torch"),
        ({"dropout": 0.4, "variational": True}, "torch"),
        ({"bridge": "copy"}, "torch"),
        *[({"cell": cell}, "torch") for cell in ("gru", "rnn", "rnn-sigmoid", "lstm-peephole")],
        ({"cell": "mut1"}, "naive"),
        ({"recurrent_dropout": 0.3}, "torch"),
        *[({"num_layers": 2, "cell": cell}, "naive") for cell in ("lstm", "gru")],
        ({"num_layers": 3, "dropout": 0.4, "recurrent_dropout": 0.3}, "naive"),
        ({"num_layers": 2, "residual": True}, ""),
        ({"attention": {"energy": "qkv", "heads": 2}}, ""),
        ({"attention": {"coverage": True}}, ""),
        ({"attention": {"window": "local-m"}}, ""),
        ({"attention": {"normalizer": "sparsemax"}}, ""),
    ],
)
def test_a_plain_attention_is_one_recurrence_and_others_are_a_loop(
    options, backend, tiny_model, monkeypatch, same
):
    """By whom its steps are computed, if as one recurrence; by the loop, and by the naive path, they are the same."""
    model = tiny_model("luong", **{"cell": "lstm", "input_feeding": True, **options}).train()
    with explain() as choices:
        ours = whole_sentence(model)
    (choice,) = (choice for choice in choices if choice.op.startswith("input feeding"))
    assert ("" if choice.op == "input feeding" else choice.backend) == backend
    with naive_only():
        same(ours, whole_sentence(model))
    with monkeypatch.context() as without:
        without.setattr(luong, "loop_reason", lambda *given, **options: "it is a test")
        same(ours, whole_sentence(model))


def test_an_added_attention_uses_the_loop(tiny_model, monkeypatch):
    model = tiny_model("luong", "lstm", input_feeding=True)
    attention = model.decoder.attention

    class Doubled(type(attention)):
        def score(self, projected, keys):
            return 2 * super().score(projected, keys)

    before = whole_sentence(model)[1]
    attention.__class__ = Doubled
    assert (whole_sentence(model)[1] - before).abs().max() > 0.01


def test_local_p_written_out(tiny_model):
    """p_t = S σ(v_pᵀ tanh(W_p h_t)), α within D of it times exp(−(s − p_t)²/(2σ²)), σ = D/2; S counts EOS."""
    attention = {"energy": "bilinear", "window": "local-p", "window_size": 1}
    model = tiny_model("luong", "lstm", attention=attention)
    encoded = model.encode(SOURCE, MASK)
    output = model.decoder.step(torch.tensor([2]), model.decoder.initial_state(encoded), encoded)
    h, window = output.state.cells[0][0][0], model.decoder.attention.window
    p = (4 * torch.sigmoid(window.v_p @ torch.tanh(window.W_p @ h))).item()
    inside = [s for s in (1, 2, 3, 4) if abs(s - p) <= 1]
    energies = encoded.annotations[0] @ (model.decoder.attention.W_a.T @ h)
    aligned = torch.softmax(torch.stack([energies[s - 1] for s in inside]), dim=0)
    expected = torch.zeros(4, dtype=torch.float64)
    for s, weight in zip(inside, aligned, strict=True):
        expected[s - 1] = weight * math.exp(-((s - p) ** 2) / (2 * 0.5**2))
    torch.testing.assert_close(output.alpha[0], expected)
