"""Decoders without attention: Cho's context at every step; Sutskever's initial state is all it knows of the source."""

from dataclasses import replace

import torch


def test_one_step_of_cho_written_out(tiny_model):
    model = tiny_model("cho", "rnn")
    decoder = model.decoder
    encoded = model.encode(torch.tensor([[4, 5, 6, 3]]), torch.ones(1, 4, dtype=torch.bool))
    c = torch.cat([encoded.annotations[0, -1, :2], encoded.annotations[0, 0, 2:]])
    V = decoder.start.W_s[0]
    s = torch.tanh(V.weight @ c + V.bias)
    state = decoder.initial_state(encoded)
    torch.testing.assert_close(state.cells[0][0][0], s)
    cell, R = decoder.stack.layers[0], decoder.readout
    for previous_id in (2, 8):
        y = decoder.embedding.E[previous_id]
        s = torch.tanh(cell.W @ torch.cat([y, c]) + cell.U @ s + cell.b)
        pairs = R.U_o.weight @ s + R.U_o.bias + R.V_o.weight @ y + R.C_o.weight @ c
        t = torch.maximum(pairs[0::2], pairs[1::2])
        output = decoder.step(torch.tensor([previous_id]), state, encoded)
        torch.testing.assert_close(output.logits[0], decoder.output.W_o @ t + decoder.output.b_o)
        assert output.alpha is None
        state = output.state


def test_the_initial_states_are_the_encoders_last(tiny_model):
    one_way = {"bidirectional": False, "reverse": True, "state_size": 4}
    model = tiny_model("sutskever", "lstm", num_layers=2, encoder=one_way)
    encoded = model.encode(torch.tensor([[4, 5, 6, 3]]), torch.ones(1, 4, dtype=torch.bool))
    state = model.decoder.initial_state(encoded)
    assert state.cells == encoded.forward_last
    garbage = replace(encoded, annotations=torch.full_like(encoded.annotations, 1e3))
    step = model.decoder.step(torch.tensor([2]), state, encoded)
    assert torch.equal(step.logits, model.decoder.step(torch.tensor([2]), state, garbage).logits)


def test_one_step_of_sutskever_written_out(tiny_model):
    model = tiny_model("sutskever", "rnn")
    decoder, cell = model.decoder, model.decoder.stack.layers[0]
    encoded = model.encode(torch.tensor([[4, 5, 3]]), torch.ones(1, 3, dtype=torch.bool))
    s = torch.cat([encoded.forward_last[0][0][0], encoded.backward_last[0][0][0]])
    s = torch.tanh(cell.W @ decoder.embedding.E[2] + cell.U @ s + cell.b)
    output = decoder.step(torch.tensor([2]), decoder.initial_state(encoded), encoded)
    torch.testing.assert_close(output.logits[0], decoder.output.W_o @ s + decoder.output.b_o)
