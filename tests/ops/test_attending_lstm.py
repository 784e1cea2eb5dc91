"""RNNsearch's recurrence with an LSTM: fused is naive in values and gradients, naive is the step line after line."""

import pytest
import torch
from tests.ops.by_backend import by

from regard.ops import backends, explain
from regard.ops.kernels import recurrences as triton
from regard.ops.lstm import lstm_sequence
from regard.ops.paths import naive_only

fused, naive = by("by hand"), by("naive")

N, A, D = 3, 4, 5

SIZES = {
    "one word each": ([1], 1),
    "a batch of one": ([4], 3),
    "one real word in a padded row": ([1, 6, 3], 4),
    "padding beyond the longest": ([2, 3], 2),
    "63 and 65": ([65, 2], 63),
}


def mask_of(lengths):
    extra = 2 if lengths == [2, 3] else 0
    return torch.arange(max(lengths) + extra) < torch.tensor(lengths).unsqueeze(1)


def tensors_of(batch, num_words, num_steps):
    shapes = [(batch, num_steps, 4 * N), (batch, N), (batch, N), (batch, num_words, A), (batch, num_words, D)]
    shapes += [(A, N), (A,), (4 * N, N), (4 * N, D)]
    return [torch.randn(*shape, dtype=torch.float64) for shape in shapes]


def running(path, mask):
    def run(projected, h0, c0, keys, annotations, *weights):
        return path(projected, (h0, c0), keys, annotations, mask, *weights)

    return run


@pytest.mark.parametrize(("lengths", "num_steps"), SIZES.values(), ids=SIZES.keys())
def test_fused_is_naive_in_values_and_gradients(lengths, num_steps, agree):
    mask = mask_of(lengths)
    agree(
        running(fused.attending_lstm, mask),
        running(naive.attending_lstm, mask),
        tensors_of(len(lengths), mask.shape[1], num_steps),
    )


@pytest.mark.parametrize("path", [fused.attending_lstm, naive.attending_lstm], ids=["fused", "naive"])
def test_gradients_are_the_derivatives(path):
    mask = mask_of([3, 1])
    tensors = [tensor.requires_grad_() for tensor in tensors_of(2, 3, 2)]
    assert torch.autograd.gradcheck(running(path, mask), tensors)


@pytest.mark.parametrize("path", [fused.attending_lstm, naive.attending_lstm], ids=["fused", "naive"])
def test_without_a_context_it_is_the_lstm(path):
    projected, h0, c0, keys, annotations, W_a, v_a, U, C = tensors_of(2, 3, 4)
    states, _, _ = path(
        projected, (h0, c0), keys, annotations, mask_of([3, 2]), W_a, v_a, U, torch.zeros_like(C)
    )
    one = torch.eye(4 * N, dtype=torch.float64)
    nothing = torch.zeros(4 * N, dtype=torch.float64)
    expected, _ = lstm_sequence(projected, torch.ones(2, 4, dtype=torch.bool), (h0, c0), one, U, nothing)
    torch.testing.assert_close(states, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("path", [fused.attending_lstm, naive.attending_lstm], ids=["fused", "naive"])
def test_garbage_in_padding_changes_nothing_and_receives_nothing(path):
    mask = mask_of([2, 4])
    clean = [tensor.requires_grad_() for tensor in tensors_of(2, 4, 3)]
    dirty = [tensor.detach().clone() for tensor in clean]
    for k in (3, 4):
        dirty[k][0, 2:] = 1e3
        dirty[k].requires_grad_()
    outputs, again = running(path, mask)(*clean), running(path, mask)(*dirty)
    torch.testing.assert_close(again, outputs, rtol=0, atol=1e-13)
    assert torch.equal(again[2][0, :, 2:], torch.zeros(3, 2, dtype=torch.float64))
    sum((out**2).sum() for out in again).backward()
    for k in (3, 4):
        assert torch.equal(dirty[k].grad[0, 2:], torch.zeros_like(dirty[k].grad[0, 2:]))


def test_which_path_runs(monkeypatch):
    monkeypatch.setattr(triton, "run", naive.run)
    mask, tensors = mask_of([2]), tensors_of(1, 2, 2)

    def run_both():
        running(by("chosen").attending_lstm, mask)(*tensors)
        with naive_only():
            running(by("chosen").attending_lstm, mask)(*tensors)

    with explain() as choices:
        run_both()
        monkeypatch.setattr(
            backends, "kernels_refuse", lambda _, *sizes, dtype: "" if sizes == (2, A, D, N) else "no"
        )
        run_both()
    assert [choice.backend for choice in choices] == ["torch", "naive", "Triton", "naive"]
