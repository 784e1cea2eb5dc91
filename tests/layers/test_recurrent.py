"""A stack step by step is the stack over the whole sequence, for any cell, depth, residuals and masks."""

import pytest
import torch
from torch import Tensor

from regard.errors import ConfigError
from regard.layers import CELLS, GRU, LSTMN, RecurrentStack
from regard.layers.recurrent import DropoutMasks

M, N, B, T = 3, 4, 2, 5
MASK = torch.ones(B, T, dtype=torch.bool)


def stack_of(kind: str, **options: object) -> RecurrentStack:
    stack = RecurrentStack(CELLS[kind], M, N, **options).double()
    for parameter in stack.parameters():
        torch.nn.init.normal_(parameter)
    return stack


def stepped(stack: RecurrentStack, inputs: Tensor, state, masks: DropoutMasks | None):
    tops = []
    for t in range(inputs.shape[1]):
        top, state = stack.step(stack.layers[0].project(inputs[:, t]), state, masks, t)
        tops.append(top)
    return torch.stack(tops, 1), state


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("num_layers", [1, 2, 3])
@pytest.mark.parametrize("residual", [False, True], ids=["plain", "residual"])
@pytest.mark.parametrize("training", [False, True], ids=["eval", "train"])
def test_step_by_step_is_the_whole_sequence(kind, num_layers, residual, training):
    stack = stack_of(kind, num_layers=num_layers, residual=residual, dropout=0.4, recurrent_dropout=0.3)
    stack.train(training)
    inputs = torch.randn(B, T, M, dtype=torch.float64)
    zero = stack.recurrent_parts(stack.zero_state(B, inputs))
    initial = stack.initial_states([tuple(torch.randn_like(part) for part in state) for state in zero])
    torch.manual_seed(1)
    whole, last = stack(inputs, MASK, initial)
    torch.manual_seed(1)
    masks = stack.sample_masks(B, T, inputs)
    tops, state = stepped(stack, inputs, initial, masks)
    torch.testing.assert_close(tops, whole, rtol=0, atol=1e-12)
    torch.testing.assert_close(state, last, rtol=0, atol=1e-12)


def test_residuals_go_up_but_not_into_memory():
    stack = stack_of("gru", num_layers=2, residual=True)
    inputs = torch.randn(B, T, M, dtype=torch.float64)
    bottom, top = stack.layers
    low, (low_last,) = bottom(inputs, MASK, bottom.zero_state(B, inputs))
    high, (high_last,) = top(low, MASK, top.zero_state(B, inputs))
    whole, last = stack(inputs, MASK)
    torch.testing.assert_close(whole, high + low)
    torch.testing.assert_close(last, ((low_last,), (high_last,)))


def test_reverse_reads_from_the_last_word_and_keeps_places():
    stack = stack_of("gru", num_layers=2)
    inputs = torch.randn(B, T, M, dtype=torch.float64)
    back, last_back = stack(inputs, MASK, reverse=True)
    ahead, last_ahead = stack(inputs.flip(1), MASK)
    torch.testing.assert_close(back, ahead.flip(1))
    torch.testing.assert_close(last_back, last_ahead)


def test_a_factory_makes_every_cell():
    stack = RecurrentStack(lambda m, n: LSTMN(m, n, span=7), M, N, num_layers=2)
    assert [(cell.input_size, cell.state_size, cell.span) for cell in stack.layers] == [(M, N, 7), (N, N, 7)]


def test_reading_shows_where_each_layer_looked():
    stack = stack_of("lstmn", num_layers=2, residual=True)
    inputs = torch.randn(B, T, M, dtype=torch.float64)
    whole, last = stack(inputs, MASK)
    tops, ends, alphas = stack.forward_with_alpha(inputs, MASK)
    torch.testing.assert_close(tops, whole, rtol=0, atol=0)
    torch.testing.assert_close(ends, last, rtol=0, atol=0)
    assert [alpha.shape for alpha in alphas] == [(B, T, T)] * 2
    past = torch.ones(T, T, dtype=torch.bool).tril(-1).expand(B, T, T)
    for alpha in alphas:
        assert torch.equal(alpha > 0, past)
        torch.testing.assert_close(alpha[:, 1:].sum(dim=-1), torch.ones(B, T - 1, dtype=torch.float64))
    # what goes on from here sees what was read before
    _, _, (further, _) = stack.forward_with_alpha(inputs[:, :2], MASK[:, :2], last)
    assert further.shape == (B, 2, T + 2)
    with pytest.raises(ConfigError, match=r"GRU does not attend to its own past.*lstmn"):
        stack_of("gru").forward_with_alpha(inputs, MASK)


def test_noise_is_drawn_once_for_a_pass(monkeypatch):
    stack = stack_of("lstm", num_layers=3, dropout=0.5, recurrent_dropout=0.5)
    drawn = []
    real = stack.sample_masks
    monkeypatch.setattr(stack, "sample_masks", lambda *args: drawn.append(args[:2]) or real(*args))
    stack(torch.randn(B, T, M, dtype=torch.float64), MASK)
    assert drawn == [(B, T)]


def test_what_noise_holds():
    stack = stack_of("gru", num_layers=3, dropout=0.5, recurrent_dropout=0.5)
    masks = stack.sample_masks(B, T, torch.zeros(1, dtype=torch.float64))
    assert masks.between[0] is None, "the bottom layer's input is its caller's to drop"
    assert [mask.shape for mask in masks.between[1:]] == [(B, T, N)] * 2
    assert [mask.shape for mask in masks.recurrent] == [(B, N)] * 3
    assert not torch.equal(masks.recurrent[0], masks.recurrent[1])
    for mask in [*masks.between[1:], *masks.recurrent]:
        assert set(mask.unique().tolist()) <= {0.0, 2.0}
    stack.eval()
    assert stack.sample_masks(B, T, torch.zeros(1)) == DropoutMasks([None] * 3, [None] * 3)


def test_dropping_every_state_cuts_the_recurrence():
    """Nearly all states dropped: each word is read as if it were the first, through W alone."""
    stack = RecurrentStack(GRU, M, N, recurrent_dropout=1 - 1e-9).double()
    inputs = torch.randn(1, 3, M, dtype=torch.float64)
    torch.nn.init.normal_(stack.layers[0].b)
    whole, _ = stack(inputs, MASK[:1, :3])
    cell = stack.layers[0]
    update, _, candidate = cell.project(inputs).chunk(3, dim=-1)
    state = torch.zeros(1, N, dtype=torch.float64)
    for t in range(3):
        z = torch.sigmoid(update[:, t])
        state = (1 - z) * state + z * torch.tanh(candidate[:, t])
        torch.testing.assert_close(whole[:, t], state)
