"""The paper's GRU: its two traps beside torch's, its hand-made backward pass in poisoned memory."""

import pytest
import torch
from tests.ops.by_backend import by
from torch import Tensor

from regard.ops.gru import gru_step
from regard.ops.torch_gru import torch_gru_step

gru_sequence = by("chosen").gru_sequence

N = 3
S = torch.tensor([[0.3, -0.8, 0.5]], dtype=torch.float64)
X = torch.tensor([[0.2, 0.1, -0.4]], dtype=torch.float64)  # the candidate's share of W x + b
U = torch.tensor([[0.0, 1.0, 0.5], [-1.0, 0.2, 0.0], [0.4, 0.0, -0.7]], dtype=torch.float64)
SHUT, OPEN = -1e3, 1e3


def projected(update: float, reset: float | Tensor) -> Tensor:
    """What the gates see from outside: a bias that holds them open or shut."""
    resets = torch.as_tensor(reset, dtype=torch.float64).expand(1, N)
    return torch.cat([torch.full((1, N), update, dtype=torch.float64), resets, X], dim=1)


def stacked() -> Tensor:
    """Gates that do not look at the state, over the candidate's U."""
    return torch.cat([torch.zeros(2 * N, N, dtype=torch.float64), U])


def paper(update: float, reset: float | Tensor) -> Tensor:
    return gru_step(projected(update, reset), (S,), stacked())[0]


def torchs(update: float, reset: float | Tensor) -> Tensor:
    return torch_gru_step(projected(update, reset), (S,), stacked(), torch.zeros(N, dtype=torch.float64))[0]


def test_trap_1_an_update_gate_of_1_takes_the_new_candidate_where_torchs_keeps_the_old_state():
    candidate = torch.tanh(X + S @ U.T)
    torch.testing.assert_close(paper(update=OPEN, reset=OPEN), candidate)
    torch.testing.assert_close(torchs(update=OPEN, reset=OPEN), S)
    torch.testing.assert_close(paper(update=SHUT, reset=OPEN), S)
    torch.testing.assert_close(torchs(update=SHUT, reset=OPEN), candidate)


def test_trap_2_the_state_is_reset_before_it_meets_U_where_torchs_is_reset_after():
    reset = torch.tensor([0.1, 0.5, 0.9], dtype=torch.float64)
    logits = torch.log(reset / (1 - reset))
    before = torch.tanh(X + (reset * S) @ U.T)
    after = torch.tanh(X + reset * (S @ U.T))
    assert (before - after).abs().min() > 0.05, "the example must distinguish the two"
    torch.testing.assert_close(paper(update=OPEN, reset=logits), before)
    torch.testing.assert_close(torchs(update=SHUT, reset=logits), after)


def test_rows_are_stacked_update_reset_candidate():
    only = [torch.zeros(3 * N, 1, dtype=torch.float64) for _ in range(3)]
    for block, W in enumerate(only):
        W[block * N : (block + 1) * N] = 2.0
    one = torch.ones(1, 1, 1, dtype=torch.float64)
    real = torch.ones(1, 1, dtype=torch.bool)
    b = torch.zeros(3 * N, dtype=torch.float64)
    half = [
        gru_sequence(one, real, (S,), W, torch.zeros(3 * N, N, dtype=torch.float64), b)[1][0] for W in only
    ]
    sigmoid_2 = 1 / (1 + torch.exp(torch.tensor(-2.0, dtype=torch.float64)))
    torch.testing.assert_close(half[0], (1 - sigmoid_2) * S)  # the update gate opens on a candidate of 0
    torch.testing.assert_close(half[1], S / 2)  # the reset gate finds no U to act through
    torch.testing.assert_close(half[2], S / 2 + torch.tanh(torch.tensor(2.0, dtype=torch.float64)) / 2)


@pytest.fixture
def clean_memory():
    """Fresh memory as the machine gives it, inside a test run that poisons it."""

    def run(compute):
        torch.use_deterministic_algorithms(False)
        try:
            return compute()
        finally:
            torch.use_deterministic_algorithms(True)

    return run


@pytest.mark.parametrize("reverse", [False, True])
def test_nothing_is_read_that_was_not_written(reverse, clean_memory):
    assert torch.empty(1000).isnan().all(), "fresh memory is poisoned in this test run"
    tensors = [torch.randn(2, 5, 4), torch.randn(2, N), torch.randn(9, 4), torch.randn(9, N), torch.randn(9)]
    mask = torch.tensor([[True] * 5, [True] * 2 + [False] * 3])

    def compute() -> list[Tensor]:
        x, s, *weights = [tensor.clone().requires_grad_() for tensor in tensors]
        states, (last,) = by("by hand").gru_sequence(x, mask, (s,), *weights, reverse=reverse)
        loss = (states**3).sum() + last.sum()
        return [states, last, *torch.autograd.grad(loss, [x, s, *weights])]

    poisoned, clean = compute(), clean_memory(compute)
    assert all(torch.equal(one, other) for one, other in zip(poisoned, clean, strict=True))


@pytest.mark.parametrize("reverse", [False, True])
def test_mixed_precision_keeps_the_recurrence_in_the_parameters_width(reverse):
    tensors = [torch.randn(2, 5, 4), torch.randn(9, 4), torch.randn(9, N), torch.randn(9)]
    mask, start = torch.ones(2, 5, dtype=torch.bool), torch.zeros(2, N)
    expected, _ = gru_sequence(tensors[0], mask, (start,), *tensors[1:], reverse=reverse)
    for first in (start, start.bfloat16()):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            x, *weights = [tensor.clone().requires_grad_() for tensor in tensors]
            states, _ = gru_sequence(x, mask, (first,), *weights, reverse=reverse)
        assert states.dtype == torch.float32
        # bfloat16 holds 8 bits: 2⁻⁸ of inputs near 4, over five steps
        torch.testing.assert_close(states, expected, rtol=0, atol=0.05)
        states.sum().backward()
        assert all(weight.grad.dtype == torch.float32 for weight in weights)
