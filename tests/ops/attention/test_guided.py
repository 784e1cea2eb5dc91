"""Gold links as a signal: a cross-entropy over each linked word, and nothing for the others."""

import math

import pytest
import torch

from regard.ops.attention import guided_alignment
from regard.ops.attention.guided import LEAST

ALPHA = torch.tensor([[[0.5, 0.25, 0.25, 0.0], [0.1, 0.8, 0.1, 0.0], [0.2, 0.3, 0.5, 0.0]]])
GOLD = torch.tensor([[[1.0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 1, 0]]])


def test_counted_by_hand():
    """One link; none; two that share a weight of 1."""
    cost = guided_alignment(ALPHA, GOLD)
    assert cost[0].tolist() == pytest.approx(
        [-math.log(0.5), 0.0, -0.5 * math.log(0.2) - 0.5 * math.log(0.5)]
    )
    # links count by their share, whatever number stands for one
    torch.testing.assert_close(guided_alignment(ALPHA, 3 * GOLD), cost)


def test_right_is_free_and_a_zero_costs_much_but_not_infinity():
    right = GOLD[:, :1]
    assert guided_alignment(right, right).item() == 0
    wrong = torch.tensor([[[0.0, 1.0, 0, 0]]], requires_grad=True)
    cost = guided_alignment(wrong, right)
    assert cost.item() == pytest.approx(-math.log(LEAST))
    cost.sum().backward()
    assert wrong.grad.isfinite().all()


def test_only_linked_words_receive_a_gradient():
    alpha = ALPHA.clone().requires_grad_()
    guided_alignment(alpha, GOLD).sum().backward()
    assert torch.equal(alpha.grad != 0, GOLD != 0)
    torch.testing.assert_close(alpha.grad[0, 2, 2], torch.tensor(-0.5 / 0.5))


def test_gradients_are_the_derivatives():
    alpha = torch.rand(2, 3, 4, dtype=torch.float64).softmax(-1).requires_grad_()
    gold = torch.randint(0, 2, (2, 3, 4)).double()
    assert torch.autograd.gradcheck(lambda a: guided_alignment(a, gold), alpha)
