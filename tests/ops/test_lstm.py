"""The LSTM against `torch.nn.LSTM`."""

import pytest
import torch
from tests.ops.by_backend import by
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

B, T, M, N = 3, 6, 3, 4
PATHS = ("naive", "by hand", "chosen")
LENGTHS = torch.tensor([6, 1, 4])
MASK = torch.arange(T) < LENGTHS.unsqueeze(1)


@pytest.mark.parametrize("path", [by(name).lstm_sequence for name in PATHS], ids=PATHS)
def test_it_is_torchs_own_with_the_two_biases_added(path, agree):
    theirs = nn.LSTM(M, N, batch_first=True, dtype=torch.float64)
    names = ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"]

    def ours(x, h, c, W, U, b_x, b_h):
        states, last = path(x, MASK, (h, c), W, U, b_x + b_h)
        return states, *last

    def reference(x, h, c, *weights):
        packed = pack_padded_sequence(x, LENGTHS, batch_first=True, enforce_sorted=False)
        states, (h, c) = torch.func.functional_call(
            theirs, dict(zip(names, weights, strict=True)), (packed, (h[None], c[None]))
        )
        return pad_packed_sequence(states, batch_first=True)[0], h[0], c[0]

    starts = [torch.randn(B, N, dtype=torch.float64) for _ in range(2)]
    weights = [getattr(theirs, name) for name in names]
    agree(ours, reference, [torch.randn(B, T, M, dtype=torch.float64), *starts, *weights])
