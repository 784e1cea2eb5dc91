"""A stack step by step is the stack over the whole sequence; both directions are torch's bidirectional LSTM."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.errors import ConfigError
from regard.layers import CELLS, GRU, LSTM, LSTMN, BidirectionalStack, RecurrentStack
from regard.layers.recurrent import DropoutMasks

M, N, B, T = 3, 4, 2, 5
MASK = torch.ones(B, T, dtype=torch.bool)
LENGTHS = torch.tensor([4, 6, 1])
PADDED = torch.arange(6) < LENGTHS.unsqueeze(1)


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


def test_residuals_are_added_to_outputs_and_not_to_states():
    stack = stack_of("gru", num_layers=2, residual=True)
    inputs = torch.randn(B, T, M, dtype=torch.float64)
    bottom, top = stack.layers
    low, (low_last,) = bottom(inputs, MASK, bottom.zero_state(B, inputs))
    high, (high_last,) = top(low, MASK, top.zero_state(B, inputs))
    whole, last = stack(inputs, MASK)
    torch.testing.assert_close(whole, high + low)
    torch.testing.assert_close(last, ((low_last,), (high_last,)))


def test_reverse_reads_from_the_last_word_and_keeps_positions():
    stack = stack_of("gru", num_layers=2)
    inputs = torch.randn(B, T, M, dtype=torch.float64)
    back, last_back = stack(inputs, MASK, reverse=True)
    ahead, last_ahead = stack(inputs.flip(1), MASK)
    torch.testing.assert_close(back, ahead.flip(1))
    torch.testing.assert_close(last_back, last_ahead)


def test_a_factory_makes_every_cell():
    stack = RecurrentStack(lambda m, n: LSTMN(m, n, span=7), M, N, num_layers=2)
    assert [(cell.input_size, cell.state_size, cell.span) for cell in stack.layers] == [(M, N, 7), (N, N, 7)]


def test_alpha_of_each_layer():
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
    # a continued tape still has the slots of the words before
    _, _, (further, _) = stack.forward_with_alpha(inputs[:, :2], MASK[:, :2], last)
    assert further.shape == (B, 2, T + 2)
    with pytest.raises(ConfigError, match=r"GRU does not attend to its own past.*lstmn"):
        stack_of("gru").forward_with_alpha(inputs, MASK)


def test_dropout_masks_are_sampled_once_per_pass(monkeypatch):
    stack = stack_of("lstm", num_layers=3, dropout=0.5, recurrent_dropout=0.5)
    sampled = []
    real = stack.sample_masks
    monkeypatch.setattr(stack, "sample_masks", lambda *args: sampled.append(args[:2]) or real(*args))
    stack(torch.randn(B, T, M, dtype=torch.float64), MASK)
    assert sampled == [(B, T)]


def test_shapes_of_the_dropout_masks():
    stack = stack_of("gru", num_layers=3, dropout=0.5, recurrent_dropout=0.5)
    masks = stack.sample_masks(B, T, torch.zeros(1, dtype=torch.float64))
    assert masks.between[0] is None, "dropout of the bottom layer's input belongs to the caller"
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


def test_two_bidirectional_layers_are_torchs_on_packed_input():
    theirs = nn.LSTM(M, N, num_layers=2, bidirectional=True, batch_first=True, dtype=torch.float64)
    ours = BidirectionalStack(LSTM, M, N, num_layers=2).double()
    with torch.no_grad():
        for layer in range(2):
            ways = ((ours.forward_layers[layer], ""), (ours.backward_layers[layer], "_reverse"))
            for direction, suffix in ways:
                cell = direction.layers[0]
                cell.W.copy_(getattr(theirs, f"weight_ih_l{layer}{suffix}"))
                cell.U.copy_(getattr(theirs, f"weight_hh_l{layer}{suffix}"))
                biases = [getattr(theirs, f"bias_{kind}_l{layer}{suffix}") for kind in ("ih", "hh")]
                cell.b.copy_(sum(biases))
    x = torch.randn(3, 6, M, dtype=torch.float64)
    packed, (h, c) = theirs(pack_padded_sequence(x, LENGTHS, batch_first=True, enforce_sorted=False))
    expected, _ = pad_packed_sequence(packed, batch_first=True)
    annotations, forward_last, backward_last = ours(x, PADDED)
    torch.testing.assert_close(annotations, expected, rtol=0, atol=1e-12)
    for layer in range(2):
        torch.testing.assert_close(forward_last[layer], (h[2 * layer], c[2 * layer]))
        torch.testing.assert_close(backward_last[layer], (h[2 * layer + 1], c[2 * layer + 1]))


def test_an_annotation_is_the_concatenation_of_both_directions():
    """h_j = [→h_j; ←h_j] (Eq. 7), and the last backward state is ←h_1."""
    stack = BidirectionalStack(GRU, M, N).double()
    x = torch.randn(3, 6, M, dtype=torch.float64)
    annotations, ((ahead_last,),), ((back_last,),) = stack(x, PADDED)
    ahead, _ = stack.forward_layers[0](x, PADDED)
    back, _ = stack.backward_layers[0](x, PADDED, reverse=True)
    torch.testing.assert_close(annotations, torch.cat([ahead, back], dim=-1))
    torch.testing.assert_close(back_last, annotations[:, 0, N:])
    torch.testing.assert_close(ahead_last, annotations[torch.arange(3), LENGTHS - 1, :N])


def test_bidirectional_residuals_add_a_layers_input_above_the_bottom():
    stack = BidirectionalStack(GRU, M, N, num_layers=2, residual=True).double()
    plain = BidirectionalStack(GRU, M, N, num_layers=2).double()
    plain.load_state_dict(stack.state_dict())
    bottom = BidirectionalStack(GRU, M, N).double()
    bottom.load_state_dict(
        {key: value for key, value in stack.state_dict().items() if key.split(".")[1] == "0"}
    )
    x = torch.randn(3, 6, M, dtype=torch.float64)
    torch.testing.assert_close(stack(x, PADDED)[0], plain(x, PADDED)[0] + bottom(x, PADDED)[0])


def test_dropout_is_between_bidirectional_layers_and_only_in_training():
    stack = BidirectionalStack(GRU, M, N, num_layers=2, dropout=0.9).double()
    x = torch.randn(3, 6, M, dtype=torch.float64)
    assert not torch.equal(stack(x, PADDED)[0], stack(x, PADDED)[0])
    single = BidirectionalStack(GRU, M, N, dropout=0.9).double()
    assert torch.equal(single(x, PADDED)[0], single(x, PADDED)[0])
    stack.eval()
    assert torch.equal(stack(x, PADDED)[0], stack(x, PADDED)[0])


@pytest.mark.parametrize("kind", CELLS)
def test_weight_dropout_is_one_mask_on_U_for_all_rows_and_steps(kind):
    (cell,) = stack_of(kind).layers
    inputs = torch.randn(B, T, M, dtype=torch.float64)
    whole = cell(inputs, MASK)[0]
    cell.weight_dropout = 0.5
    torch.manual_seed(1)
    outputs, _ = cell(inputs, MASK)
    (gradient,) = torch.autograd.grad(outputs.sum(), cell.U)
    torch.manual_seed(1)
    dropped = nn.functional.dropout(cell.U.detach(), 0.5)
    assert torch.equal(gradient[dropped == 0], torch.zeros_like(gradient[dropped == 0]))
    torch.testing.assert_close(cell.eval()(inputs, MASK)[0], whole)
    cell.U.data.copy_(dropped)
    torch.testing.assert_close(cell(inputs, MASK)[0], outputs)
