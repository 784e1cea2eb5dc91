"""Cho's decoder: one context, in the initial state, in the recurrence and in the readout."""

import torch


def test_one_step_written_out(tiny_model):
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
