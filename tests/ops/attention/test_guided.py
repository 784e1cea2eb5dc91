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
    # links count relative to their sum, whatever the weight of one
    torch.testing.assert_close(guided_alignment(ALPHA, 3 * GOLD), cost)


def test_right_is_free_and_a_zero_costs_much_but_not_infinity():
    right = GOLD[:, :1]
    assert guided_alignment(right, right).item() == 0
    wrong = torch.tensor([[[0.0, 1.0, 0, 0]]], requires_grad=True)
    cost = guided_alignment(wrong, right)
    assert cost.item() == pytest.approx(-math.log(LEAST))
    cost.sum().backward()
    assert wrong.grad.isfinite().all()


def test_who_is_sure_of_the_wrong_word_still_learns():
    energies = torch.tensor([[[0.0, 20.0]]], requires_grad=True)
    gold = torch.tensor([[[1.0, 0.0]]])
    guided_alignment(energies.softmax(dim=-1), gold).sum().backward()
    # of a cross-entropy: alpha − gold
    torch.testing.assert_close(energies.grad, torch.tensor([[[-1.0, 1.0]]]), rtol=0, atol=1e-3)


def test_a_narrow_alpha_is_taken_widely():
    """bfloat16 and float16 cannot represent what is added to a zero."""
    right = GOLD[:, :1]
    for kind in (torch.float16, torch.bfloat16):
        wrong = torch.tensor([[[0.0, 1.0, 0, 0]]], dtype=kind)
        assert guided_alignment(wrong, right).item() == pytest.approx(-math.log(LEAST))


def test_only_linked_words_receive_a_gradient():
    alpha = ALPHA.clone().requires_grad_()
    guided_alignment(alpha, GOLD).sum().backward()
    assert torch.equal(alpha.grad != 0, GOLD != 0)
    torch.testing.assert_close(alpha.grad[0, 2, 2], torch.tensor(-0.5 / 0.5))


def test_gradients_are_the_derivatives():
    alpha = torch.rand(2, 3, 4, dtype=torch.float64).softmax(-1).requires_grad_()
    gold = torch.randint(0, 2, (2, 3, 4)).double()
    assert torch.autograd.gradcheck(lambda a: guided_alignment(a, gold), alpha)
