"""The plain RNN against torch's, and against the equation written out."""

import pytest
import torch
from tests.ops.by_backend import by
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.ops.rnn import rnn_sequence

B, T, M, N = 3, 6, 3, 4
PATHS = ("naive", "by hand", "chosen")
LENGTHS = torch.tensor([6, 1, 4])
MASK = torch.arange(T) < LENGTHS.unsqueeze(1)


@pytest.mark.parametrize("path", [by(name).rnn_sequence for name in PATHS], ids=PATHS)
def test_tanh_is_torchs_own(path, agree):
    theirs = nn.RNN(M, N, batch_first=True, dtype=torch.float64)
    names = ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"]

    def ours(x, h, W, U, b_x, b_h):
        states, (last,) = path(x, MASK, (h,), W, U, b_x + b_h, "tanh")
        return states, last

    def reference(x, h, *weights):
        packed = pack_padded_sequence(x, LENGTHS, batch_first=True, enforce_sorted=False)
        states, last = torch.func.functional_call(
            theirs, dict(zip(names, weights, strict=True)), (packed, h[None])
        )
        return pad_packed_sequence(states, batch_first=True)[0], last[0]

    x, h = torch.randn(B, T, M, dtype=torch.float64), torch.randn(B, N, dtype=torch.float64)
    agree(ours, reference, [x, h, *[getattr(theirs, name) for name in names]])


@pytest.mark.parametrize("path", PATHS)
def test_sigmoid_is_the_equation_written_out(path):
    x, h = torch.randn(1, T, M, dtype=torch.float64), torch.randn(1, N, dtype=torch.float64)
    W, U, b = (torch.randn(*shape, dtype=torch.float64) for shape in ((N, M), (N, N), (N,)))
    states, (last,) = by(path).rnn_sequence(x, torch.ones(1, T, dtype=torch.bool), (h,), W, U, b, "sigmoid")
    for t in range(T):
        h = torch.stack(
            [1 / (1 + torch.exp(-(W[k] @ x[0, t] + U[k] @ h[0] + b[k]))) for k in range(N)]
        ).unsqueeze(0)
        torch.testing.assert_close(states[:, t], h)
    torch.testing.assert_close(last, h)


def test_an_unknown_activation_is_refused():
    x, h = torch.zeros(1, 1, M), torch.zeros(1, N)
    with pytest.raises(KeyError, match="relu"):
        rnn_sequence(
            x,
            torch.ones(1, 1, dtype=torch.bool),
            (h,),
            torch.zeros(N, M),
            torch.zeros(N, N),
            torch.zeros(N),
            "relu",
        )
