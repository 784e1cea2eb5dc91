"""The GRU in torch's form against `torch.nn.GRU`, weights mapped by name."""

import pytest
import torch
from tests.ops.by_backend import by
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

B, T, M, N = 3, 6, 3, 4
PATHS = ("naive", "chosen")
LENGTHS = torch.tensor([6, 1, 4])
MASK = torch.arange(T) < LENGTHS.unsqueeze(1)


def update_first(stacked: Tensor) -> Tensor:
    """torch's reset, update, candidate → our update, reset, candidate."""
    reset, update, candidate = stacked.split(stacked.shape[0] // 3)
    return torch.cat([update, reset, candidate])


@pytest.mark.parametrize("path", [by(name).torch_gru_sequence for name in PATHS], ids=PATHS)
def test_it_is_torchs_own_with_both_of_its_biases(path, agree):
    theirs = nn.GRU(M, N, batch_first=True, dtype=torch.float64)
    names = ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"]

    def ours(x, h, W, U, b_x, b_h):
        # the gates' two biases simply add; the candidate's second stays inside the reset
        outside = torch.cat([b_h[: 2 * N], torch.zeros(N, dtype=torch.float64)])
        b, b_U = update_first(b_x + outside), b_h[2 * N :]
        states, (last,) = path(x, MASK, (h,), update_first(W), update_first(U), b, b_U)
        return states, last

    def reference(x, h, *weights):
        packed = pack_padded_sequence(x, LENGTHS, batch_first=True, enforce_sorted=False)
        states, last = torch.func.functional_call(
            theirs, dict(zip(names, weights, strict=True)), (packed, h[None])
        )
        return pad_packed_sequence(states, batch_first=True)[0], last[0]

    x, h = torch.randn(B, T, M, dtype=torch.float64), torch.randn(B, N, dtype=torch.float64)
    agree(ours, reference, [x, h, *[getattr(theirs, name) for name in names]])
