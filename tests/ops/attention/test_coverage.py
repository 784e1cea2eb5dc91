"""Coverage: the energies that see it, and what attending again costs."""

import torch

from regard.ops.attention import additive_energies, coverage_before, coverage_penalty
from regard.ops.attention.coverage import fused, naive


def tensors(batch, queries, words, a):
    shapes = [(batch, queries, a), (batch, words, a), (a,), (a,), (batch, queries, words)]
    return [torch.randn(*shape, dtype=torch.float64) for shape in shapes]


def test_fused_is_naive_in_values_and_gradients(agree):
    for sizes in ((1, 1, 1, 1), (2, 3, 5, 4), (1, 2, 65, 3)):
        agree(
            lambda *t: [fused.covered_energies(*t)],
            lambda *t: [naive.covered_energies(*t)],
            tensors(*sizes),
        )


def test_each_entry_is_the_equation():
    q, k, v, w, C = tensors(2, 3, 4, 5)
    energies = naive.covered_energies(q, k, v, w, C)
    for b, i, j in torch.cartesian_prod(*map(torch.arange, energies.shape)).tolist():
        expected = v @ torch.tanh(q[b, i] + k[b, j] + w * C[b, i, j])
        torch.testing.assert_close(energies[b, i, j], expected)


def test_with_nothing_covered_it_is_the_additive_energy():
    q, k, v, w, C = tensors(2, 3, 4, 5)
    torch.testing.assert_close(
        fused.covered_energies(q, k, v, w, torch.zeros_like(C)), additive_energies(q, k, v)
    )


ALPHA = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]])


def test_the_penalty_counted_by_hand():
    """Fresh words cost nothing; what is looked at again costs what overlaps."""
    assert coverage_before(ALPHA)[0].tolist() == [[0, 0, 0], [1, 0, 0], [1, 0.5, 0.5], [1.5, 1, 0.5]]
    assert coverage_penalty(ALPHA)[0].tolist() == [0, 0, 1, 1]


def test_steps_beyond_the_end_change_none_before():
    longer = torch.cat([ALPHA, torch.rand(1, 3, 3)], dim=1)
    assert torch.equal(coverage_penalty(longer)[:, :4], coverage_penalty(ALPHA))


def test_the_penalty_has_the_derivatives_of_a_minimum():
    alpha = torch.rand(2, 4, 3, dtype=torch.float64).softmax(-1).requires_grad_()
    assert torch.autograd.gradcheck(coverage_penalty, alpha)
