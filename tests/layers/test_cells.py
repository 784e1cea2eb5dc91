"""What every cell owns: stacked weights, first values, one step and a whole sequence."""

import pytest
import torch

from regard.layers import CELLS, LSTM, LSTMN, TorchGRU

M, N = 7, 5

every_cell = pytest.mark.parametrize("kind", CELLS)


@every_cell
def test_a_sequence_is_its_steps(kind):
    cell = CELLS[kind](M, N).double()
    for parameter in cell.parameters():
        torch.nn.init.normal_(parameter)
    inputs, mask = torch.randn(2, 4, M, dtype=torch.float64), torch.ones(2, 4, dtype=torch.bool)
    state = cell.start_state(tuple(torch.randn_like(part) for part in cell.ends(cell.zero_state(2, inputs))))
    states, last = cell.sequence(inputs, mask, state)
    for t in range(4):
        state = cell.step(cell.project(inputs[:, t]), state)
        torch.testing.assert_close(states[:, t], state[0], rtol=0, atol=1e-14)
    torch.testing.assert_close(last, state, rtol=0, atol=1e-14)


@every_cell
def test_shapes_of_weights_and_state(kind):
    cell = CELLS[kind](M, N)
    gates = {"lstm": 4, "lstmn": 4, "gru": 3, "gru-torch": 3}.get(kind, 1)
    asking = N if kind in ("rnn-read", "lstmn") else 0
    assert cell.W.shape == (gates * N + asking, M)
    assert cell.U.shape == (gates * N, 2 * N if kind == "rnn-sum-keep" else N)
    assert cell.b.shape == (gates * N,)
    state = cell.zero_state(3, torch.zeros(1, dtype=torch.float64))
    ends = cell.ends(state)
    assert len(ends) == (2 if kind in ("lstm", "lstmn") else 1)
    assert all(torch.equal(part, torch.zeros(3, N, dtype=torch.float64)) for part in ends)
    assert cell.project(torch.zeros(2, 3, M)).shape == (2, 3, cell.projected_size)
    assert cell.projected_size == gates * N + asking


@every_cell
def test_first_values(kind):
    """Orthogonal blocks of U, Glorot's bound for each block of W, biases zero but an open forget gate."""
    cell = CELLS[kind](30, 40)
    bound = (6 / (30 + 40)) ** 0.5
    for block in cell.U.chunk(cell.num_gates):
        torch.testing.assert_close(block @ block.T, torch.eye(40), rtol=0, atol=1e-5)
    for block in cell.W[: len(cell.b)].chunk(cell.num_gates):
        assert 0.95 * bound < block.abs().max() <= bound
    expected = torch.zeros_like(cell.b)
    if isinstance(cell, LSTM | LSTMN):
        expected[40:80] = 1.0
    assert torch.equal(cell.b, expected)
    if isinstance(cell, TorchGRU):
        assert torch.equal(cell.b_U, torch.zeros(40))


def test_two_calls_share_nothing():
    """A cell remembers nothing: the order of calls does not matter."""
    cell = LSTM(M, N)
    one, other = torch.randn(1, 3, M), torch.randn(1, 3, M)
    mask = torch.ones(1, 3, dtype=torch.bool)
    first, _ = cell.sequence(one, mask, cell.zero_state(1, one))
    cell.sequence(other, mask, cell.zero_state(1, other))
    again, _ = cell.sequence(one, mask, cell.zero_state(1, one))
    assert torch.equal(first, again)
