"""Luong's recurrence with input feeding: fused is naive in values and gradients, naive is the step line after line."""

import pytest
import torch
from tests.ops.by_backend import by

from regard.ops import backends, explain
from regard.ops.kernels import recurrences as triton
from regard.ops.lstm import lstm_sequence
from regard.ops.native import recurrences as native
from regard.ops.paths import fused_wanted, naive_only

fused, naive = by("by hand"), by("naive")

N, A, D, L = 3, 4, 5, 6

SIZES = {
    "one word each": ([1], 1),
    "a batch of one": ([4], 3),
    "one real word in a padded row": ([1, 6, 3], 4),
    "padding beyond the longest": ([2, 3], 2),
    "63 and 65": ([65, 2], 63),
}

# whether there is a v_a (additive, not dot), and a matrix of the query
ENERGIES = {
    "additive": (True, True),
    "additive, the state asks": (True, False),
    "dot": (False, False),
    "dot with a matrix": (False, True),
}

PATHS = {"fused": fused.input_feeding_lstm, "naive": naive.input_feeding_lstm}
both_paths = pytest.mark.parametrize("path", PATHS.values(), ids=PATHS.keys())
every_energy = pytest.mark.parametrize("energy", ENERGIES.values(), ids=ENERGIES.keys())


def mask_of(lengths):
    extra = 2 if lengths == [2, 3] else 0
    return torch.arange(max(lengths) + extra) < torch.tensor(lengths).unsqueeze(1)


def tensors_of(batch, num_words, num_steps, energy):
    additive, matrix = energy
    a = A if matrix else N
    shapes = [(batch, num_steps, 4 * N), (batch, N), (batch, N), (batch, L)]
    shapes += [(batch, num_words, a), (batch, num_words, D), (4 * N, L), (4 * N, N), (L, D + N)]
    shapes += [(a, N)] * matrix + [(a,)] * additive
    return [torch.randn(*shape, dtype=torch.float64) for shape in shapes]


def running(path, mask, energy, dropped=None):
    additive, matrix = energy

    def run(projected, h0, c0, fed, keys, annotations, F, U, W_c, *of_energies):
        W_a = of_energies[0] if matrix else None
        v_a = of_energies[-1] if additive else None
        weights = (W_a, v_a, F, U, W_c)
        return path(projected, (h0, c0), fed, keys, annotations, mask, *weights, dropped)

    return run


def dropped_of(batch, num_steps):
    """Some units dropped, the others scaled, unlike at every step."""
    return torch.empty(batch, num_steps, L, dtype=torch.float64).bernoulli_(0.6).div_(0.6)


@every_energy
@pytest.mark.parametrize("dropout", [False, True], ids=["", "dropout"])
@pytest.mark.parametrize(("lengths", "num_steps"), SIZES.values(), ids=SIZES.keys())
def test_fused_is_naive_in_values_and_gradients(lengths, num_steps, dropout, energy, agree):
    mask, batch = mask_of(lengths), len(lengths)
    dropped = dropped_of(batch, num_steps) if dropout else None
    agree(
        running(fused.input_feeding_lstm, mask, energy, dropped),
        running(naive.input_feeding_lstm, mask, energy, dropped),
        tensors_of(batch, mask.shape[1], num_steps, energy),
    )


@every_energy
def test_gradients_are_the_derivatives(energy):
    mask = mask_of([3, 1])
    tensors = [tensor.requires_grad_() for tensor in tensors_of(2, 3, 2, energy)]
    run = running(fused.input_feeding_lstm, mask, energy, dropped_of(2, 2))
    assert torch.autograd.gradcheck(run, tensors)


@both_paths
def test_one_step_written_out(path):
    """h_1 from y_0, h̃_0 and h_0; α_1 from h_1; h̃_1 = tanh(W_c [c_1; h_1]), and the second step is fed what is left."""
    energy = ENERGIES["additive"]
    tensors = tensors_of(1, 3, 2, energy)
    dropped = dropped_of(1, 2)
    readouts, alphas = running(path, mask_of([3]), energy, dropped)(*tensors)
    projected, h, c, fed, keys, annotations, F, U, W_c, W_a, v_a = tensors
    h, c, fed = h[0], c[0], fed[0]
    for t in range(2):
        i, f, candidate, o = (projected[0, t] + F @ fed + U @ h).chunk(4)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(candidate)
        h = torch.sigmoid(o) * torch.tanh(c)
        alpha = torch.softmax(torch.stack([v_a @ torch.tanh(W_a @ h + key) for key in keys[0]]), dim=0)
        context = alpha @ annotations[0]
        fed = torch.tanh(W_c @ torch.cat([context, h])) * dropped[0, t]
        torch.testing.assert_close(alphas[0, t], alpha, rtol=0, atol=1e-13)
        torch.testing.assert_close(readouts[0, t], fed, rtol=0, atol=1e-13)


@both_paths
def test_without_feeding_it_is_the_lstm_and_one_attention(path):
    energy = ENERGIES["dot"]
    projected, h0, c0, fed, keys, annotations, F, U, W_c = tensors_of(2, 3, 4, energy)
    mask = mask_of([3, 2])
    given = (projected, h0, c0, fed, keys, annotations, torch.zeros_like(F), U, W_c)
    readouts, alpha = running(path, mask, energy)(*given)
    one = torch.eye(4 * N, dtype=torch.float64)
    nothing = torch.zeros(4 * N, dtype=torch.float64)
    states, _ = lstm_sequence(projected, torch.ones(2, 4, dtype=torch.bool), (h0, c0), one, U, nothing)
    energies = (states @ keys.transpose(1, 2)).masked_fill(~mask.unsqueeze(1), float("-inf"))
    torch.testing.assert_close(alpha, energies.softmax(dim=-1), rtol=0, atol=1e-13)
    expected = torch.tanh(torch.cat([alpha @ annotations, states], dim=-1) @ W_c.T)
    torch.testing.assert_close(readouts, expected, rtol=0, atol=1e-13)


@both_paths
@every_energy
def test_garbage_in_padding_changes_nothing_and_receives_nothing(path, energy):
    mask = mask_of([2, 4])
    clean = [tensor.requires_grad_() for tensor in tensors_of(2, 4, 3, energy)]
    dirty = [tensor.detach().clone() for tensor in clean]
    source = (4, 5)  # keys and annotations
    for k in source:
        dirty[k][0, 2:] = 1e3
        dirty[k].requires_grad_()
    outputs, again = running(path, mask, energy)(*clean), running(path, mask, energy)(*dirty)
    torch.testing.assert_close(again, outputs, rtol=0, atol=1e-13)
    assert torch.equal(again[1][0, :, 2:], torch.zeros(3, 2, dtype=torch.float64))
    sum((out**2).sum() for out in again).backward()
    for k in source:
        assert torch.equal(dirty[k].grad[0, 2:], torch.zeros_like(dirty[k].grad[0, 2:]))


def test_which_path_runs(monkeypatch):
    monkeypatch.setattr(triton, "run", naive.run)
    monkeypatch.setattr(native, "run", naive.run)
    energy = ENERGIES["additive"]
    mask, tensors = mask_of([2]), tensors_of(1, 2, 2, energy)

    def run_both():
        running(by("chosen").input_feeding_lstm, mask, energy)(*tensors)
        with naive_only():
            running(by("chosen").input_feeding_lstm, mask, energy)(*tensors)

    with explain() as choices:
        run_both()
        monkeypatch.setattr(backends, "native_refuses", lambda *_, op: "" if fused_wanted() else "no")
        run_both()
        monkeypatch.setattr(
            backends, "kernels_refuse", lambda _, *sizes, dtype: "" if sizes == (2, A, N, L) else "no"
        )
        run_both()
    assert [choice.backend for choice in choices] == ["torch", "naive", "C", "naive", "Triton", "naive"]
