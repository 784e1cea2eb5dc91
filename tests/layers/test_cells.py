"""What every cell owns: stacked weights, first values, one step and a whole sequence."""

import pydoc

import jaxtyping
import pytest
import torch

from regard.errors import ConfigError
from regard.layers import CELLS, GRU, LSTM, Cell, SigmoidRNN, TorchGRU
from regard.ops import Recurrence

M, N = 7, 5

every_cell = pytest.mark.parametrize("kind", CELLS)


@every_cell
def test_a_sequence_is_its_steps(kind):
    cell = CELLS[kind](M, N).double()
    for parameter in cell.parameters():
        torch.nn.init.normal_(parameter)
    inputs, mask = torch.randn(2, 4, M, dtype=torch.float64), torch.ones(2, 4, dtype=torch.bool)
    state = cell.initial_state(
        tuple(torch.randn_like(part) for part in cell.recurrent_parts(cell.zero_state(2, inputs)))
    )
    states, last = cell(inputs, mask, state)
    for t in range(4):
        state = cell.step(cell.project(inputs[:, t]), state)
        torch.testing.assert_close(states[:, t], state[0], rtol=0, atol=1e-14)
    torch.testing.assert_close(last, state, rtol=0, atol=1e-14)


@every_cell
def test_shapes_of_weights_and_state(kind):
    cell = CELLS[kind](M, N)
    gates = 1 if kind.startswith("rnn") else 4 if kind in ("lstm", "lstm-peephole", "lstmn") else 3
    of_state = 2 if kind == "mut1" else gates
    asking = N if kind in ("rnn-read", "lstmn") else 0
    assert cell.W.shape == (gates * N + asking, M)
    assert cell.U.shape == (of_state * N, 2 * N if kind == "rnn-sum-keep" else N)
    assert cell.b.shape == (gates * N,)
    state = cell.zero_state(3, torch.zeros(1, dtype=torch.float64))
    ends = cell.recurrent_parts(state)
    assert len(ends) == (2 if kind.startswith("lstm") else 1)
    assert all(torch.equal(part, torch.zeros(3, N, dtype=torch.float64)) for part in ends)
    assert cell.project(torch.zeros(2, 3, M)).shape == (2, 3, cell.projected_size)
    assert cell.projected_size == gates * N + asking


@every_cell
def test_first_values(kind):
    """Orthogonal blocks of U, Glorot's bound for each block of W, biases zero but an open forget gate."""
    cell = CELLS[kind](30, 40)
    bound = (6 / (30 + 40)) ** 0.5
    for block in cell.U.split(40):
        torch.testing.assert_close(block @ block.T, torch.eye(40), rtol=0, atol=1e-5)
    for block in cell.W[: len(cell.b)].chunk(cell.num_gates):
        assert 0.95 * bound < block.abs().max() <= bound
    expected = torch.zeros_like(cell.b)
    forgetting = {"lstm": 1, "lstm-peephole": 1, "lstmn": 1, "lstm-no-output": 1, "lstm-no-input": 0}
    if kind in forgetting:
        expected.split(40)[forgetting[kind]].fill_(1.0)
    assert torch.equal(cell.b, expected)
    for name in ("b_U", "p"):
        assert not getattr(cell, name, torch.zeros(1)).any()


@every_cell
def test_a_cell_without_bias_is_one_whose_biases_are_zero(kind):
    """In values and gradients; the zeros are no parameter, are not saved, and stay zero when trained."""
    plain, zeroed = CELLS[kind](M, N, bias=False).double(), CELLS[kind](M, N).double()
    names = [name for name, _ in plain.named_parameters()]
    biases = {name for name, _ in zeroed.named_parameters()} - {*names}
    assert biases == ({"b", "b_U"} if kind in ("gru-torch", "mut1") else {"b"})
    assert {*plain.state_dict()} == {*names}
    with torch.no_grad():
        for name, parameter in zeroed.named_parameters():
            parameter.copy_(torch.zeros_like(parameter) if name in biases else plain.get_parameter(name))
    inputs = torch.randn(2, 4, M, dtype=torch.float64)
    outputs, expected = plain(inputs)[0], zeroed(inputs)[0]
    torch.testing.assert_close(outputs, expected, rtol=0, atol=1e-14)
    for cell, out in ((plain, outputs), (zeroed, expected)):
        out.square().sum().backward()
        torch.optim.SGD(cell.parameters(), 1.0).step()
    for name, parameter in plain.named_parameters():
        torch.testing.assert_close(parameter, zeroed.get_parameter(name), rtol=0, atol=1e-13)
    assert not any(getattr(plain, name).any() for name in biases)


def test_the_traditional_rnn_of_sutskever_and_of_the_lecture():
    """h_t = sigm(W^{hx} x_t + W^{hh} h_{t−1}): no bias."""
    cell, inputs = SigmoidRNN(M, N, bias=False).double(), torch.randn(2, 4, M, dtype=torch.float64)
    outputs, h = cell(inputs)[0], torch.zeros(2, N, dtype=torch.float64)
    for t in range(4):
        h = 1 / (1 + torch.exp(-(inputs[:, t] @ cell.W.T + h @ cell.U.T)))
        torch.testing.assert_close(outputs[:, t], h, rtol=0, atol=1e-14)


def test_two_calls_share_nothing():
    """A cell remembers nothing: the order of calls does not matter."""
    cell = LSTM(M, N)
    one, other = torch.randn(1, 3, M), torch.randn(1, 3, M)
    mask = torch.ones(1, 3, dtype=torch.bool)
    first, _ = cell(one, mask, cell.zero_state(1, one))
    cell(other, mask, cell.zero_state(1, other))
    again, _ = cell(one, mask, cell.zero_state(1, one))
    assert torch.equal(first, again)


def called(cell, *arguments, **options):
    """Outputs and h (and c) of a call on a batch."""
    outputs, state = cell(*arguments, **options)
    return outputs, cell.recurrent_parts(state)


@every_cell
def test_a_call_without_mask_or_state_runs_over_the_whole_batch_from_zeros(kind):
    cell, inputs = CELLS[kind](8, 16), torch.randn(3, 6, 8)
    outputs, parts = called(cell, inputs)
    assert outputs.shape == (3, 6, 16)
    assert [part.shape for part in parts] == [(3, 16)] * cell.num_parts
    torch.testing.assert_close(parts[0], outputs[:, -1], rtol=0, atol=0)
    everywhere, zeros = torch.ones(3, 6, dtype=torch.bool), cell.zero_state(3, inputs)
    torch.testing.assert_close(called(cell, inputs, everywhere, zeros), (outputs, parts), rtol=0, atol=0)


@every_cell
def test_a_call_continues_from_the_state_that_the_last_one_returned(kind):
    cell, inputs = CELLS[kind](M, N).double(), torch.randn(2, 7, M, dtype=torch.float64)
    whole, last = cell(inputs)
    first, state = cell(inputs[:, :3])
    second, end = cell(inputs[:, 3:], initial=state)
    torch.testing.assert_close(torch.cat([first, second], dim=1), whole, rtol=0, atol=1e-14)
    torch.testing.assert_close(end, last, rtol=0, atol=1e-14)


@every_cell
def test_a_call_starts_from_a_given_h_and_c(kind):
    """The parts alone are enough: a cell with a tape makes them its first slot."""
    cell, inputs = CELLS[kind](M, N).double(), torch.randn(2, 4, M, dtype=torch.float64)
    parts = tuple(torch.randn(2, N, dtype=torch.float64) for _ in range(cell.num_parts))
    given, full = cell(inputs, initial=parts), cell(inputs, initial=cell.initial_state(parts))
    torch.testing.assert_close(given, full, rtol=0, atol=0)
    assert not torch.allclose(given[0], cell(inputs)[0])


@every_cell
@pytest.mark.parametrize("reverse", [False, True])
def test_padding_changes_nothing_in_a_call(kind, reverse):
    cell, inputs = CELLS[kind](M, N).double(), torch.randn(2, 5, M, dtype=torch.float64)
    mask = torch.tensor([[True] * 5, [True] * 2 + [False] * 3])
    outputs, parts = called(cell, inputs.masked_fill(~mask.unsqueeze(-1), 1e3), mask, reverse=reverse)
    alone, ends = called(cell, inputs[1:, :2], reverse=reverse)
    torch.testing.assert_close(outputs[1:, :2], alone, rtol=0, atol=1e-13)
    torch.testing.assert_close(tuple(part[1:] for part in parts), ends, rtol=0, atol=1e-13)
    assert (outputs[1, 2:] == 0).all()


@every_cell
def test_gradients_flow_through_a_call_and_not_under_no_grad(kind):
    cell, inputs = CELLS[kind](M, N), torch.randn(2, 5, M, requires_grad=True)
    outputs, state = cell(inputs)
    (outputs.square().sum() + sum(part.sum() for part in cell.recurrent_parts(state))).backward()
    for name, parameter in [("inputs", inputs), *cell.named_parameters()]:
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name
    with torch.no_grad():
        again, _ = cell(inputs)
    assert not again.requires_grad
    torch.testing.assert_close(again, outputs)


@every_cell
def test_a_wrong_argument_is_named_with_its_remedy(kind, monkeypatch):
    """As outside the test run, where no annotation is checked."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    cell = CELLS[kind](M, N)
    name = type(cell).__name__
    with pytest.raises(ConfigError, match=rf"{name}: inputs of shape \(2, 5\); give \(batch, time, {M}\)"):
        cell(torch.randn(2, 5))
    with pytest.raises(ConfigError, match=rf"{name}: inputs of shape \(2, 5, 3\)"):
        cell(torch.randn(2, 5, 3))
    with pytest.raises(ConfigError, match=rf"{name}: the second argument is the mask .*initial="):
        cell(torch.randn(2, 5, M), cell.zero_state(2, torch.zeros(1)))


def test_the_lstm_is_torch_s_with_the_same_weights():
    ours, theirs = LSTM(M, N).double(), torch.nn.LSTM(M, N, batch_first=True).double()
    with torch.no_grad():
        ours.W.copy_(theirs.weight_ih_l0)
        ours.U.copy_(theirs.weight_hh_l0)
        ours.b.copy_(theirs.bias_ih_l0 + theirs.bias_hh_l0)
    inputs = torch.randn(3, 6, M, dtype=torch.float64)
    h, c = torch.randn(2, 3, N, dtype=torch.float64)
    outputs, (last_h, last_c) = ours(inputs, initial=(h, c))
    expected, (h_n, c_n) = theirs(inputs, (h.unsqueeze(0), c.unsqueeze(0)))
    torch.testing.assert_close((outputs, last_h, last_c), (expected, h_n[0], c_n[0]), rtol=0, atol=1e-14)


def test_the_torch_gru_is_torch_s_with_the_same_weights():
    """Torch stacks reset before update, and its two biases differ only in the candidate."""
    ours, theirs = TorchGRU(M, N).double(), torch.nn.GRU(M, N, batch_first=True).double()

    def reorder(stacked):
        reset, update, candidate = stacked.chunk(3)
        return torch.cat([update, reset, candidate])

    with torch.no_grad():
        ours.W.copy_(reorder(theirs.weight_ih_l0))
        ours.U.copy_(reorder(theirs.weight_hh_l0))
        inside = theirs.bias_hh_l0.clone()
        inside[2 * N :] = 0
        ours.b.copy_(reorder(theirs.bias_ih_l0 + inside))
        ours.b_U.copy_(theirs.bias_hh_l0[2 * N :])
    inputs, h = torch.randn(3, 6, M, dtype=torch.float64), torch.randn(3, N, dtype=torch.float64)
    outputs, (last,) = ours(inputs, initial=(h,))
    expected, h_n = theirs(inputs, h.unsqueeze(0))
    torch.testing.assert_close((outputs, last), (expected, h_n[0]), rtol=0, atol=1e-14)


@pytest.mark.parametrize(("kind", "nonlinearity"), [("rnn", "tanh"), ("rnn-sigmoid", None)])
def test_the_plain_rnn_is_torch_s_with_the_same_weights(kind, nonlinearity):
    """Torch has no sigmoid: that one against its equation."""
    ours, inputs = CELLS[kind](M, N).double(), torch.randn(2, 4, M, dtype=torch.float64)
    outputs, _ = ours(inputs)
    if nonlinearity is None:
        h = torch.zeros(2, N, dtype=torch.float64)
        for t in range(4):
            h = torch.sigmoid(inputs[:, t] @ ours.W.T + h @ ours.U.T + ours.b)
            torch.testing.assert_close(outputs[:, t], h, rtol=0, atol=1e-14)
        return
    theirs = torch.nn.RNN(M, N, nonlinearity=nonlinearity, batch_first=True).double()
    with torch.no_grad():
        theirs.weight_ih_l0.copy_(ours.W)
        theirs.weight_hh_l0.copy_(ours.U)
        theirs.bias_ih_l0.copy_(ours.b)
        theirs.bias_hh_l0.zero_()
    torch.testing.assert_close(outputs, theirs(inputs)[0], rtol=0, atol=1e-14)


def test_a_cell_that_defines_one_step_runs_over_a_sequence():
    class Sum(Cell):
        """h_t = h_{t−1} + W x_t + b."""

        num_gates = 1

        def step(self, projected, previous_state, state_mask=None):
            return (previous_state[0] + projected,)

    cell, inputs = Sum(M, N), torch.randn(2, 5, M)
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    outputs, (h,) = cell(inputs, mask)
    sums = cell.project(inputs).masked_fill(~mask.unsqueeze(-1), 0).cumsum(dim=1)
    torch.testing.assert_close(h, sums[:, -1])
    torch.testing.assert_close(outputs, sums.masked_fill(~mask.unsqueeze(-1), 0))


@every_cell
def test_help_says_the_equation_and_the_shapes(kind):
    text = pydoc.render_doc(CELLS[kind], renderer=pydoc.plaintext)
    assert "h_t = " in text or "Σ α_i h_i" in text
    for shape in ("(B, T, m)", "(B, T, n)", "(B, n)", "True at real words"):
        assert shape in text, shape


def test_a_cell_that_changes_its_step_is_not_taken_for_its_base():
    """The ops compute what `recurrence` describes, and nothing that a subclass does besides."""

    class Halved(LSTM):
        def step(self, projected, previous_state, state_mask=None):
            return super().step(projected / 2, previous_state, state_mask)

    class Renamed(LSTM):
        pass

    class RenamedHalved(Halved):
        pass

    assert LSTM(2, 3).recurrence == Renamed(2, 3).recurrence == Recurrence("lstm")
    assert GRU(2, 3).recurrence == Recurrence("gru")
    assert Halved(2, 3).recurrence is RenamedHalved(2, 3).recurrence is None
    halved, x = Halved(2, 3), torch.randn(1, 4, 2)
    state = halved.zero_state(1, x)
    for t in range(4):
        state = halved.step(halved.project(x[:, t]), state)
    torch.testing.assert_close(halved(x)[1], state)
