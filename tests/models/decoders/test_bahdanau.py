"""RNNsearch's decoder against the paper's equations, one sentence and one number at a time."""

import pytest
import torch

from regard.models.decoders import bahdanau
from regard.ops import explain
from regard.ops.paths import naive_only

SOURCE = torch.tensor([[4, 5, 6, 3]])
MASK = torch.ones(1, 4, dtype=torch.bool)


def by_hand(model, encoded, previous_state, previous_id, *, readout_takes):
    """A.2.2, for one sentence: (logits, s_i, α_i, c_i)."""
    decoder = model.decoder
    attention, cell, C = decoder.attention, decoder.stack.layers[0], decoder.C
    n = len(previous_state)
    h, y = encoded.annotations[0], decoder.embedding.E[previous_id]
    energies = torch.stack(
        [attention.v_a @ torch.tanh(attention.W_a @ previous_state + attention.U_a @ h_j) for h_j in h]
    )
    alpha = torch.exp(energies) / torch.exp(energies).sum()
    c = sum(alpha[j] * h[j] for j in range(len(h)))

    def gate(k, state):
        rows = slice(k * n, (k + 1) * n)
        return cell.W[rows] @ y + cell.U[rows] @ state + C[rows] @ c + cell.b[rows]

    z, r = torch.sigmoid(gate(0, previous_state)), torch.sigmoid(gate(1, previous_state))
    candidate = torch.tanh(gate(2, r * previous_state))
    s = (1 - z) * previous_state + z * candidate
    R = decoder.readout
    state = {"s_i": s, "s_{i−1}": previous_state}[readout_takes]
    pairs = R.U_o.weight @ state + R.U_o.bias + R.V_o.weight @ y + R.C_o.weight @ c
    t = torch.maximum(pairs[0::2], pairs[1::2])
    return decoder.output.W_o @ t + decoder.output.b_o, s, alpha, c


def test_the_start_is_the_backward_state_at_the_first_word(tiny_model):
    """s_0 = tanh(W_s ←h_1)."""
    model = tiny_model("bahdanau")
    encoded = model.encode(SOURCE, MASK)
    back = encoded.annotations[0, 0, 2:]
    W_s = model.decoder.start.W_s[0]
    ((s_0,),) = model.decoder.initial_state(encoded).cells
    torch.testing.assert_close(s_0[0], torch.tanh(W_s.weight @ back + W_s.bias))


def test_trap_3_the_readout_takes_the_new_state(tiny_model):
    model = tiny_model("bahdanau")
    encoded = model.encode(SOURCE, MASK)
    state = model.decoder.initial_state(encoded)
    for previous_id in (2, 7, 5):
        output = model.decoder.step(torch.tensor([previous_id]), state, encoded)
        s = state.cells[0][0][0]
        logits, new, alpha, _ = by_hand(model, encoded, s, previous_id, readout_takes="s_i")
        torch.testing.assert_close(output.logits[0], logits)
        torch.testing.assert_close(output.state.cells[0][0][0], new)
        torch.testing.assert_close(output.alpha[0], alpha)
        as_printed, *_ = by_hand(model, encoded, s, previous_id, readout_takes="s_{i−1}")
        assert (output.logits[0] - as_printed).abs().max() > 0.05, "the example must distinguish the two"
        state = output.state


@pytest.mark.parametrize("cell", ["rnn", "lstm", "lstmn"])
def test_the_start_can_be_the_encoder_s_last_states(cell, tiny_model):
    """s_0 = h_m, and c_0 of an LSTM its c_m: the lecture's; a bidirectional encoder gives [→h_m; ←h_1]."""
    one_way = {"bidirectional": False, "state_size": 4}
    model = tiny_model("bahdanau", cell, bridge="copy", encoder=one_way)
    assert not any(name.startswith("decoder.start") for name, _ in model.named_parameters())
    encoded = model.encode(SOURCE, MASK)
    ((s_0, *rest),) = model.decoder.initial_state(encoded).cells
    torch.testing.assert_close(s_0, encoded.annotations[:, -1], rtol=0, atol=0)
    if cell == "lstm":
        torch.testing.assert_close(rest[0], encoded.forward_last[0][1], rtol=0, atol=0)
    both = tiny_model("bahdanau", cell, bridge="copy")
    encoded = both.encode(SOURCE, MASK)
    ends = torch.cat([encoded.annotations[:, -1, :2], encoded.annotations[:, 0, 2:]], dim=-1)
    torch.testing.assert_close(both.decoder.initial_state(encoded).cells[0][0], ends, rtol=0, atol=0)


@pytest.mark.parametrize("energy", ["additive", "qk", "qkv"])
def test_the_lecture_s_decoder(energy, tiny_model):
    """s_0 = h_m; c_{j−1} from s_{j−1}; s_j = tanh(A′ [x′_j; s_{j−1}; c_{j−1}] + b); p_j = softmax(c + V s_j)."""
    wider = {"value_size": 7} if energy == "qkv" else {}
    model = tiny_model(
        *("bahdanau", "rnn"),
        readout="state",
        bridge="copy",
        attention={"energy": energy, **wider},
        encoder={"bidirectional": False, "state_size": 4},
    )
    encoded, decoder = model.encode(SOURCE, MASK), model.decoder
    attention, cell, h = decoder.attention, decoder.stack.layers[0], encoded.annotations[0]
    A = torch.cat([cell.W, cell.U, decoder.C], dim=1)
    previous_ids = (2, 7, 5)
    unrolled = decoder(torch.tensor([previous_ids]), torch.ones(1, 3, dtype=torch.bool), encoded)
    s, state = h[-1], decoder.initial_state(encoded)
    for j, previous_id in enumerate(previous_ids):
        if energy == "additive":
            scores = torch.tanh(attention.W_a @ s + h @ attention.U_a.T) @ attention.v_a
        else:
            scores = (h @ attention.W_K.T) @ (attention.W_Q @ s) / (6**0.5 if energy == "qkv" else 1)
        alpha = torch.exp(scores) / torch.exp(scores).sum()
        c = alpha @ (h @ attention.W_V.T if energy == "qkv" else h)
        s = torch.tanh(A @ torch.cat([decoder.embedding.E[previous_id], s, c]) + cell.b)
        logits = decoder.output.b_o + decoder.output.W_o @ s
        output = decoder.step(torch.tensor([previous_id]), state, encoded)
        torch.testing.assert_close((output.logits[0], output.alpha[0]), (logits, alpha))
        torch.testing.assert_close((unrolled.readout[0, j], unrolled.alpha[0, j]), (s, alpha))
        state = output.state


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
        ({}, "torch"),
        ({"bridge": "copy", "bias": False}, "torch"),
        ({"readout": "state"}, "torch"),
        *[({"cell": cell}, "torch") for cell in ("rnn", "rnn-sigmoid", "lstm", "lstm-peephole")],
        *[({"cell": cell}, "naive") for cell in ("mut3", "gru-torch")],
        *[
            ({"attention": {"energy": energy}, "cell": cell}, "torch")
            for energy, cell in (
                ("qk", "gru"),
                ("bilinear", "lstm"),
                ("dot", "rnn"),
                ("qkv", "gru"),
                ("concat", "lstm"),
            )
        ],
        ({"recurrent_dropout": 0.3}, "torch"),
        ({"attention": {"coverage": True}}, ""),
        ({"attention": {"window": "local-m"}}, ""),
        ({"attention": {"normalizer": "sparsemax"}}, ""),
        ({"num_layers": 2}, ""),
        ({"cell": "lstmn"}, ""),
    ],
)
def test_a_plain_attention_is_one_recurrence_and_others_are_a_loop(
    options, backend, tiny_model, monkeypatch, same
):
    """By whom its steps are computed, if as one recurrence; by the loop, and by the naive path, they are the same."""
    model = tiny_model("bahdanau", **options).train()
    with explain() as choices:
        ours = whole_sentence(model)
    (choice,) = (choice for choice in choices if choice.op.startswith("attending"))
    looped = choice.op == "attending recurrence"
    assert ("" if looped else choice.backend) == backend
    with naive_only():
        same(ours, whole_sentence(model))
    with monkeypatch.context() as without:
        without.setattr(bahdanau, "loop_reason", lambda *given: "it is a test")
        same(ours, whole_sentence(model))


def test_dropout_of_states_reaches_the_recurrence(tiny_model):
    """With nearly all states dropped, the op without recurrent dropout must not be used."""
    model = tiny_model("bahdanau", recurrent_dropout=0.9).train()
    encoded = model.encode(SOURCE, MASK)
    previous, real = torch.tensor([[2, 5, 6, 4]]), torch.ones(1, 4, dtype=torch.bool)
    runs = [model.decoder(previous, real, encoded).readout for _ in range(4)]
    assert any(not torch.equal(run, runs[0]) for run in runs[1:])
    model.eval()
    quiet = [model.decoder(previous, real, encoded).readout for _ in range(2)]
    assert torch.equal(*quiet)
