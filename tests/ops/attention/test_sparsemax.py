"""Sparsemax: a distribution with exact zeros, the nearest point of the simplex, and its derivative."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.ops.attention import sparsemax
from regard.ops.attention.sparsemax import fused, naive
from regard.ops.paths import naive_only

every_path = pytest.mark.parametrize("path", [fused, naive])
finite = st.floats(-50, 50, width=32)


def bisected(e):
    """τ by halving, without sorting or sets: Σ max(e − τ, 0) falls as τ grows."""
    low, high = e.max() - 1, e.max()
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if (e - middle).clamp(min=0).sum() > 1 else (low, middle)
    return (e - low).clamp(min=0)


@given(st.data())
def test_alpha_is_a_distribution_over_real_words_and_zero_elsewhere(data):
    width = data.draw(st.integers(1, 6))
    length = data.draw(st.integers(1, width))
    values = data.draw(st.lists(finite, min_size=width, max_size=width))
    energies = torch.tensor(values, dtype=torch.float64).view(1, 1, width)
    mask = (torch.arange(width) < length).unsqueeze(0)
    alpha = fused.sparsemax(energies, mask)
    torch.testing.assert_close(alpha, naive.sparsemax(energies, mask))
    assert torch.equal(alpha[0, 0, length:], torch.zeros(width - length, dtype=torch.float64))
    assert alpha.min() >= 0
    torch.testing.assert_close(alpha.sum().item(), 1.0)
    torch.testing.assert_close(alpha[0, 0, :length], bisected(energies[0, 0, :length]))


@every_path
def test_worked_examples(path):
    energies = torch.tensor([[[1.0, 0.8, 0.1], [3.0, 0.0, 0.0], [0.5, 0.5, 0.5], [0.0, 0.6, 0.4]]])
    alpha = path.sparsemax(energies, torch.ones(1, 3, dtype=torch.bool))
    expected = [[0.6, 0.4, 0.0], [1.0, 0.0, 0.0], [1 / 3] * 3, [0.0, 0.6, 0.4]]
    torch.testing.assert_close(alpha[0], torch.tensor(expected))
    # zeros are zeros, not small numbers
    assert (alpha[0, 0, 2], alpha[0, 1, 1]) == (0, 0)


@every_path
def test_nothing_of_the_simplex_is_nearer(path):
    energies = torch.randn(1, 1, 5, dtype=torch.float64)
    mask = torch.ones(1, 5, dtype=torch.bool)
    distance = (path.sparsemax(energies, mask) - energies).square().sum()
    others = torch.rand(2000, 5, dtype=torch.float64).log().neg()
    others = others / others.sum(dim=-1, keepdim=True)
    assert ((others - energies[0]).square().sum(dim=-1) >= distance).all()


@pytest.mark.parametrize(("batch", "queries", "words"), [(1, 1, 1), (2, 3, 5), (1, 2, 65)])
def test_fused_is_naive_in_values_and_gradients(batch, queries, words, agree):
    mask = torch.arange(words).expand(batch, -1) < torch.arange(words, words - batch, -1).unsqueeze(1)
    energies = 0.5 * torch.randn(batch, queries, words, dtype=torch.float64)
    agree(lambda e: [fused.sparsemax(e, mask)], lambda e: [naive.sparsemax(e, mask)], [energies])


@every_path
def test_gradients_are_the_derivatives(path):
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    energies = torch.tensor([0.3, 0.9, -0.4, 0.6, 1.5, 0.2, 0.1, 0.7] * 2, dtype=torch.float64)
    assert torch.autograd.gradcheck(
        lambda e: path.sparsemax(e, mask), energies.view(2, 2, 4).requires_grad_()
    )


@every_path
def test_what_may_not_be_attended_to_is_left_out(path):
    """−∞ outside a window: as if those words were not there, in values and in gradients."""
    energies = torch.tensor([[[0.3, -float("inf"), 0.1, -float("inf")]]], requires_grad=True)
    alpha = path.sparsemax(energies, torch.tensor([[True, True, True, False]]))
    torch.testing.assert_close(alpha[0, 0], torch.tensor([0.6, 0.0, 0.4, 0.0]))
    (alpha * torch.tensor([1.0, 5.0, 2.0, 7.0])).sum().backward()
    assert energies.grad[0, 0].tolist() == [-0.5, 0, 0.5, 0]


def test_large_energies_lose_no_digits():
    energies = torch.tensor([[[1e4, 1e4 - 0.5, -1e4]]])
    alpha = fused.sparsemax(energies, torch.ones(1, 3, dtype=torch.bool))
    assert alpha[0, 0].tolist() == [0.75, 0.25, 0]
    alike = torch.full((1, 1, 5), 3333333.25)
    torch.testing.assert_close(
        fused.sparsemax(alike, torch.ones(1, 5, dtype=torch.bool)), torch.full((1, 1, 5), 0.2)
    )


def test_narrow_numbers_are_widened():
    energies = torch.randn(1, 2, 3).bfloat16()
    assert fused.sparsemax(energies, torch.ones(1, 3, dtype=torch.bool)).dtype == torch.float32


def test_which_path_runs(monkeypatch):
    taken = []
    for name, module in (("fused", fused), ("naive", naive)):
        monkeypatch.setattr(module, "sparsemax", lambda e, _, n=name: taken.append(n) or e)
    e, mask = torch.zeros(1, 1, 2), torch.ones(1, 2, dtype=torch.bool)
    sparsemax(e, mask)
    with naive_only():
        sparsemax(e, mask)
    assert taken == ["fused", "naive"]
