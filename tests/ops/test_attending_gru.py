"""RNNsearch's recurrence: fused is naive in values and gradients, naive is the paper's lines in order."""

import pytest
import torch
from tests.ops.by_backend import by

from regard.ops import explain
from regard.ops.attending import attending
from regard.ops.attending_gru import naive
from regard.ops.gru import gru_step
from regard.ops.paths import naive_only

fused = by("by hand")

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
    shapes = [(batch, num_steps, 3 * N), (batch, N), (batch, num_words, A), (batch, num_words, D)]
    shapes += [(A, N), (A,), (3 * N, N), (3 * N, D)]
    return [torch.randn(*shape, dtype=torch.float64) for shape in shapes]


def running(path, mask):
    def run(projected, initial, keys, annotations, *weights):
        return path(projected, initial, keys, annotations, mask, *weights)

    return run


@pytest.mark.parametrize(("lengths", "num_steps"), SIZES.values(), ids=SIZES.keys())
def test_fused_is_naive_in_values_and_gradients(lengths, num_steps, agree):
    mask = mask_of(lengths)
    agree(
        running(fused.attending_gru, mask),
        running(naive.attending_gru, mask),
        tensors_of(len(lengths), mask.shape[1], num_steps),
    )


@pytest.mark.parametrize("path", [fused.attending_gru, naive.attending_gru], ids=["fused", "naive"])
def test_gradients_are_the_derivatives(path):
    mask = mask_of([3, 1])
    tensors = [tensor.requires_grad_() for tensor in tensors_of(2, 3, 2)]
    assert torch.autograd.gradcheck(running(path, mask), tensors)


@pytest.mark.parametrize("path", [fused.attending_gru, naive.attending_gru], ids=["fused", "naive"])
def test_garbage_in_padding_changes_nothing_and_receives_nothing(path):
    mask = mask_of([2, 4])
    clean = [tensor.requires_grad_() for tensor in tensors_of(2, 4, 3)]
    dirty = [tensor.detach().clone() for tensor in clean]
    for k in (2, 3):
        dirty[k][0, 2:] = 1e3
        dirty[k].requires_grad_()
    outputs, again = running(path, mask)(*clean), running(path, mask)(*dirty)
    torch.testing.assert_close(again, outputs, rtol=0, atol=1e-13)
    assert torch.equal(again[2][0, :, 2:], torch.zeros(3, 2, dtype=torch.float64))
    sum((out**2).sum() for out in again).backward()
    for k in (2, 3):
        assert torch.equal(dirty[k].grad[0, 2:], torch.zeros_like(dirty[k].grad[0, 2:]))


def test_which_path_runs():
    mask, tensors = mask_of([2]), tensors_of(1, 2, 2)
    with explain() as choices:
        running(by("chosen").attending_gru, mask)(*tensors)
        with naive_only():
            running(by("chosen").attending_gru, mask)(*tensors)
    assert [(choice.op, choice.backend) for choice in choices] == [
        ("attending gru", "torch"),
        ("attending gru", "naive"),
    ]


def test_the_paper_s_definition_is_that_of_any_cell():
    mask, (projected, initial, keys, annotations, W_a, v_a, U, C) = mask_of([2, 4]), tensors_of(2, 4, 3)
    source = (keys, annotations, mask, W_a, v_a)
    paper = naive.attending_gru(projected, initial, *source, U, C)
    general = attending(projected, (initial,), *source, C, lambda x, state: gru_step(x, state, U))
    torch.testing.assert_close(general, paper, rtol=0, atol=0)
