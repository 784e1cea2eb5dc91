"""Alpha sums to 1 over real words, is exactly 0 on padding, and bears extreme energies."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.ops.attention import attend, masked_softmax

finite = st.floats(-1e4, 1e4, width=32)


@given(st.data())
def test_alpha_is_a_distribution_over_real_words(data):
    width = data.draw(st.integers(1, 6))
    length = data.draw(st.integers(1, width))
    energies = torch.tensor(data.draw(st.lists(finite, min_size=width, max_size=width))).view(1, 1, width)
    mask = (torch.arange(width) < length).unsqueeze(0)
    alpha = masked_softmax(energies, mask)[0, 0]
    assert torch.equal(alpha[length:], torch.zeros(width - length))
    assert alpha[:length].min() >= 0
    torch.testing.assert_close(alpha.sum(), torch.tensor(1.0))


def test_it_is_the_softmax_of_the_real_part_alone():
    energies = torch.randn(2, 3, 5, dtype=torch.float64)
    mask = torch.tensor([[True] * 5, [True] * 2 + [False] * 3])
    alpha = masked_softmax(energies, mask)
    torch.testing.assert_close(
        alpha[0], torch.exp(energies[0]) / torch.exp(energies[0]).sum(-1, keepdim=True)
    )
    torch.testing.assert_close(alpha[1, :, :2], energies[1, :, :2].softmax(-1))


@pytest.mark.parametrize("size", [1e4, -1e4])
def test_extreme_energies_give_no_nan_and_finite_gradients(size):
    energies = torch.full((1, 2, 4), size)
    energies[0, 1, 0] = -size
    energies.requires_grad_()
    mask = torch.tensor([[True, True, False, False]])
    alpha = masked_softmax(energies, mask)
    (alpha * torch.randn(1, 2, 4)).sum().backward()
    assert alpha.isfinite().all()
    assert energies.grad.isfinite().all()
    assert torch.equal(energies.grad[..., 2:], torch.zeros(1, 2, 2))
    assert alpha[0, 0].tolist() == [0.5, 0.5, 0, 0]
    assert alpha[0, 1].tolist() == ([0, 1, 0, 0] if size > 0 else [1, 0, 0, 0])


def test_the_context_is_the_mean_that_alpha_weighs():
    energies, values = torch.randn(2, 3, 4, dtype=torch.float64), torch.randn(2, 4, 5, dtype=torch.float64)
    mask = torch.tensor([[True] * 4, [True] * 3 + [False]])
    context, alpha = attend(energies, values, mask)
    assert torch.equal(alpha, masked_softmax(energies, mask))
    for b in range(2):
        for i in range(3):
            expected = sum(alpha[b, i, j] * values[b, j] for j in range(4))
            torch.testing.assert_close(context[b, i], expected)


def test_gradients_are_the_derivatives():
    mask = torch.tensor([[True] * 3, [True, False, False]])
    tensors = torch.randn(2, 2, 3, dtype=torch.float64), torch.randn(2, 3, 2, dtype=torch.float64)
    assert torch.autograd.gradcheck(
        lambda energies, values: attend(energies, values, mask), [t.requires_grad_() for t in tensors]
    )
