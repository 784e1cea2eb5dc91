"""The LSTMs and GRUs of the literature against their papers' equations, one unit at a time, and today's LSTM."""

import math

import pytest
import torch

from regard.ops.gru import gru_step
from regard.ops.gru_variants import mut1_step, mut3_step
from regard.ops.lstm import lstm_step
from regard.ops.lstm_variants import lstm_1997_step, lstm_without_step, peephole_lstm_step

B, N = 2, 3
EXACT = {"rtol": 0, "atol": 1e-14}


def numbers(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def dot(row, vector):
    return sum(float(a) * float(b) for a, b in zip(row, vector, strict=True))


def assert_units(state, expected):
    """Each part of a state (B, n) is what `expected(b, k)` gives for row b and unit k."""
    for b in range(B):
        for k in range(N):
            for part, value in zip(state, expected(b, k), strict=True):
                assert float(part[b, k]) == pytest.approx(value, abs=1e-14)


def test_peepholes_are_graves_s_equations():
    """Graves 2013, Eqs. 7–11: i and f see c_{t−1}, o sees c_t."""
    x, h, c, U, p = numbers(B, 4 * N), numbers(B, N), numbers(B, N), numbers(4 * N, N), numbers(3 * N)

    def unit(b, k):
        i, f, g, o = (float(x[b, q * N + k]) + dot(U[q * N + k], h[b]) for q in range(4))
        before = float(c[b, k])
        i, f = sigmoid(i + float(p[k]) * before), sigmoid(f + float(p[N + k]) * before)
        memory = f * before + i * math.tanh(g)
        return sigmoid(o + float(p[2 * N + k]) * memory) * math.tanh(memory), memory

    assert_units(peephole_lstm_step(x, (h, c), U, p), unit)


def test_without_peepholes_it_is_today_s_lstm():
    x, state, U = numbers(B, 4 * N), (numbers(B, N), numbers(B, N)), numbers(4 * N, N)
    found = peephole_lstm_step(x, state, U, torch.zeros(3 * N, dtype=torch.float64))
    torch.testing.assert_close(found, lstm_step(x, state, U), **EXACT)


def test_the_lstm_of_1997():
    """c_t = c_{t−1} + i_t g(…), h_t = o_t h(c_t), g within ±2 and h within ±1."""
    x, h, c, U = numbers(B, 3 * N), numbers(B, N), numbers(B, N), numbers(3 * N, N)

    def unit(b, k):
        i, g, o = (float(x[b, q * N + k]) + dot(U[q * N + k], h[b]) for q in range(3))
        memory = float(c[b, k]) + sigmoid(i) * (4 / (1 + math.exp(-g)) - 2)
        return sigmoid(o) * (2 / (1 + math.exp(-memory)) - 1), memory

    assert_units(lstm_1997_step(x, (h, c), U), unit)


@pytest.mark.parametrize(("missing", "block"), [("input", 0), ("forget", 1), ("output", 3)])
def test_an_lstm_without_a_gate_is_one_whose_gate_is_always_open(missing, block):
    x, state, U = numbers(B, 3 * N), (numbers(B, N), numbers(B, N)), numbers(3 * N, N)
    at = block * N
    wide = torch.cat([x[:, :at], torch.full((B, N), 1e3, dtype=torch.float64), x[:, at:]], dim=1)
    tall = torch.cat([U[:at], torch.zeros(N, N, dtype=torch.float64), U[at:]])
    torch.testing.assert_close(lstm_without_step(x, state, U, missing), lstm_step(wide, state, tall), **EXACT)


def test_mut1_is_the_paper_s_where_the_input_is_as_wide_as_the_state():
    """z = σ(W_z x + b_z), r = σ(W_r x + U_r h + b_r), h′ = tanh(U_h (r∘h) + tanh(x) + b_h)∘z + h∘(1 − z)."""
    x, h, W, U, b = numbers(B, N), numbers(B, N), numbers(2 * N, N), numbers(2 * N, N), numbers(3 * N)
    projected = torch.cat([x @ W.T + b[: 2 * N], x], dim=1)

    def unit(r, k):
        z = sigmoid(dot(W[k], x[r]) + float(b[k]))
        reset = [
            sigmoid(dot(W[N + j], x[r]) + dot(U[j], h[r]) + float(b[N + j])) * float(h[r, j])
            for j in range(N)
        ]
        candidate = math.tanh(dot(U[N + k], reset) + math.tanh(float(x[r, k])) + float(b[2 * N + k]))
        return (candidate * z + float(h[r, k]) * (1 - z),)

    assert_units(mut1_step(projected, (h,), U, b[2 * N :]), unit)


def test_mut2_is_the_gru_whose_reset_gate_sees_the_input_itself():
    """z = σ(W_z x + U_z h + b_z), r = σ(x + U_r h + b_r), h′ = tanh(U_h (r∘h) + W_h x + b_h)∘z + h∘(1 − z)."""
    x, h, W, U, b = numbers(B, N), numbers(B, N), numbers(2 * N, N), numbers(3 * N, N), numbers(3 * N)
    whole = torch.cat([W[:N], torch.eye(N, dtype=torch.float64), W[N:]])
    z = torch.sigmoid(x @ W[:N].T + h @ U[:N].T + b[:N])
    r = torch.sigmoid(x + h @ U[N : 2 * N].T + b[N : 2 * N])
    candidate = torch.tanh((r * h) @ U[2 * N :].T + x @ W[N:].T + b[2 * N :])
    (found,) = gru_step(x @ whole.T + b, (h,), U)
    torch.testing.assert_close(found, candidate * z + h * (1 - z), **EXACT)


def test_mut3_is_the_paper_s():
    """z = σ(W_z x + U_z tanh(h) + b_z), the rest as the GRU."""
    x, h, U = numbers(B, 3 * N), numbers(B, N), numbers(3 * N, N)

    def unit(b, k):
        z = sigmoid(float(x[b, k]) + dot(U[k], h[b].tanh()))
        reset = [sigmoid(float(x[b, N + j]) + dot(U[N + j], h[b])) * float(h[b, j]) for j in range(N)]
        candidate = math.tanh(float(x[b, 2 * N + k]) + dot(U[2 * N + k], reset))
        return (candidate * z + float(h[b, k]) * (1 - z),)

    assert_units(mut3_step(x, (h,), U), unit)


STEPS = {
    "peephole": (lambda x, h, c, U, p, mask=None: peephole_lstm_step(x, (h, c), U, p, mask), 4, 2, 4, 3),
    "1997": (lambda x, h, c, U, mask=None: lstm_1997_step(x, (h, c), U, mask), 3, 2, 3, 0),
    "no input": (lambda x, h, c, U, mask=None: lstm_without_step(x, (h, c), U, "input", mask), 3, 2, 3, 0),
    "no forget": (lambda x, h, c, U, mask=None: lstm_without_step(x, (h, c), U, "forget", mask), 3, 2, 3, 0),
    "no output": (lambda x, h, c, U, mask=None: lstm_without_step(x, (h, c), U, "output", mask), 3, 2, 3, 0),
    "mut1": (lambda x, h, U, b, mask=None: mut1_step(x, (h,), U, b, mask), 3, 1, 2, 1),
    "mut3": (lambda x, h, U, mask=None: mut3_step(x, (h,), U, mask), 3, 1, 3, 0),
}


def tensors_of(gates, parts, blocks, extra):
    vectors = [numbers(extra * N)] if extra else []
    return [numbers(B, gates * N), *(numbers(B, N) for _ in range(parts)), numbers(blocks * N, N), *vectors]


@pytest.mark.parametrize("name", STEPS)
def test_gradients_are_the_derivatives(name):
    step, *sizes = STEPS[name]
    assert torch.autograd.gradcheck(step, [tensor.requires_grad_() for tensor in tensors_of(*sizes)])


@pytest.mark.parametrize("name", STEPS)
def test_dropping_states_is_scaling_the_columns_that_meet_them(name):
    step, gates, parts, blocks, extra = STEPS[name]
    tensors = tensors_of(gates, parts, blocks, extra)
    dropped = torch.tensor([0.0, 2.0, 1.0], dtype=torch.float64)
    scaled = [*tensors]
    scaled[1 + parts] = tensors[1 + parts] * dropped
    torch.testing.assert_close(step(*tensors, mask=dropped.expand(B, N)), step(*scaled), **EXACT)
