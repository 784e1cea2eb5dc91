"""Both ways at once, against torch's own bidirectional LSTM."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.layers import GRU, LSTM, BidirectionalStack

B, T, M, N = 3, 6, 3, 4
LENGTHS = torch.tensor([4, 6, 1])
MASK = torch.arange(T) < LENGTHS.unsqueeze(1)


def test_two_layers_are_torchs_own_on_packed_input():
    theirs = nn.LSTM(M, N, num_layers=2, bidirectional=True, batch_first=True, dtype=torch.float64)
    ours = BidirectionalStack(LSTM, M, N, num_layers=2).double()
    with torch.no_grad():
        for layer in range(2):
            ways = ((ours.forward_layers[layer], ""), (ours.backward_layers[layer], "_reverse"))
            for one, suffix in ways:
                cell = one.layers[0]
                cell.W.copy_(getattr(theirs, f"weight_ih_l{layer}{suffix}"))
                cell.U.copy_(getattr(theirs, f"weight_hh_l{layer}{suffix}"))
                biases = [getattr(theirs, f"bias_{kind}_l{layer}{suffix}") for kind in ("ih", "hh")]
                cell.b.copy_(sum(biases))
    x = torch.randn(B, T, M, dtype=torch.float64)
    packed, (h, c) = theirs(pack_padded_sequence(x, LENGTHS, batch_first=True, enforce_sorted=False))
    expected, _ = pad_packed_sequence(packed, batch_first=True)
    annotations, forward_last, backward_last = ours(x, MASK)
    torch.testing.assert_close(annotations, expected, rtol=0, atol=1e-12)
    for layer in range(2):
        torch.testing.assert_close(forward_last[layer], (h[2 * layer], c[2 * layer]))
        torch.testing.assert_close(backward_last[layer], (h[2 * layer + 1], c[2 * layer + 1]))


def test_an_annotation_is_both_ways_side_by_side():
    """h_j = [→h_j; ←h_j] (Eq. 7), and the last backward state is ←h_1."""
    stack = BidirectionalStack(GRU, M, N).double()
    x = torch.randn(B, T, M, dtype=torch.float64)
    annotations, ((ahead_last,),), ((back_last,),) = stack(x, MASK)
    ahead, _ = stack.forward_layers[0](x, MASK)
    back, _ = stack.backward_layers[0](x, MASK, reverse=True)
    torch.testing.assert_close(annotations, torch.cat([ahead, back], dim=-1))
    torch.testing.assert_close(back_last, annotations[:, 0, N:])
    torch.testing.assert_close(ahead_last, annotations[torch.arange(B), LENGTHS - 1, :N])


def test_residuals_add_a_layers_input_above_the_bottom():
    stack = BidirectionalStack(GRU, M, N, num_layers=2, residual=True).double()
    plain = BidirectionalStack(GRU, M, N, num_layers=2).double()
    plain.load_state_dict(stack.state_dict())
    bottom = BidirectionalStack(GRU, M, N).double()
    bottom.load_state_dict(
        {key: value for key, value in stack.state_dict().items() if key.split(".")[1] == "0"}
    )
    x = torch.randn(B, T, M, dtype=torch.float64)
    torch.testing.assert_close(stack(x, MASK)[0], plain(x, MASK)[0] + bottom(x, MASK)[0])


def test_dropout_stands_between_layers_and_only_in_training():
    stack = BidirectionalStack(GRU, M, N, num_layers=2, dropout=0.9).double()
    x = torch.randn(B, T, M, dtype=torch.float64)
    assert not torch.equal(stack(x, MASK)[0], stack(x, MASK)[0])
    single = BidirectionalStack(GRU, M, N, dropout=0.9).double()
    assert torch.equal(single(x, MASK)[0], single(x, MASK)[0])
    stack.eval()
    assert torch.equal(stack(x, MASK)[0], stack(x, MASK)[0])
