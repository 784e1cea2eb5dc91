"""Sutskever's decoder: its initial state is all it knows of the source."""

from dataclasses import replace

import torch


def test_the_initial_states_are_the_encoders_last(tiny_model):
    one_way = {"bidirectional": False, "reverse": True, "state_size": 4}
    model = tiny_model("sutskever", "lstm", num_layers=2, encoder=one_way)
    encoded = model.encode(torch.tensor([[4, 5, 6, 3]]), torch.ones(1, 4, dtype=torch.bool))
    state = model.decoder.initial_state(encoded)
    assert state.cells == encoded.forward_last
    garbage = replace(encoded, annotations=torch.full_like(encoded.annotations, 1e3))
    step = model.decoder.step(torch.tensor([2]), state, encoded)
    assert torch.equal(step.logits, model.decoder.step(torch.tensor([2]), state, garbage).logits)


def test_one_step_written_out(tiny_model):
    model = tiny_model("sutskever", "rnn")
    decoder, cell = model.decoder, model.decoder.stack.layers[0]
    encoded = model.encode(torch.tensor([[4, 5, 3]]), torch.ones(1, 3, dtype=torch.bool))
    s = torch.cat([encoded.forward_last[0][0][0], encoded.backward_last[0][0][0]])
    s = torch.tanh(cell.W @ decoder.embedding.E[2] + cell.U @ s + cell.b)
    output = decoder.step(torch.tensor([2]), decoder.initial_state(encoded), encoded)
    torch.testing.assert_close(output.logits[0], decoder.output.W_o @ s + decoder.output.b_o)
