"""Attention in two directions from one matrix of energies, and its losses, against loops over words."""

import math

import pytest
import torch

from regard.ops.attention import disagreement, guided_two_way, two_way_softmax


@pytest.fixture
def case():
    torch.manual_seed(3)
    target_mask = torch.tensor([[True, True, True], [True, False, False]])
    source_mask = torch.tensor([[True, True, False, False], [True, True, True, True]])
    energies = torch.randn(2, 3, 4, dtype=torch.float64)
    nulls = torch.randn(2, 3, dtype=torch.float64), torch.randn(2, 4, dtype=torch.float64)
    return energies, *nulls, target_mask, source_mask


def test_each_word_has_a_distribution_over_the_other_side_and_null(case):
    energies, target_nulls, source_nulls, target_mask, source_mask = case
    found = two_way_softmax(*case)
    for b in range(2):
        for i in range(3):
            kept = [math.exp(energies[b, i, j]) if source_mask[b, j] else 0.0 for j in range(4)]
            kept.append(math.exp(target_nulls[b, i]))
            expected = torch.tensor(kept, dtype=torch.float64) / sum(kept)
            torch.testing.assert_close(found.forward[b, i].exp(), expected)
        for j in range(4):
            kept = [math.exp(energies[b, i, j]) if target_mask[b, i] else 0.0 for i in range(3)]
            kept.append(math.exp(source_nulls[b, j]))
            expected = torch.tensor(kept, dtype=torch.float64) / sum(kept)
            torch.testing.assert_close(found.backward[b, :, j].exp(), expected)
    forward, backward = found.alphas
    assert forward.shape == backward.shape == energies.shape


def test_the_guided_loss_is_the_cross_entropy_of_expected_links_and_null(case):
    *_, target_mask, source_mask = case
    logs = two_way_softmax(*case)
    cells = target_mask.unsqueeze(2) & source_mask.unsqueeze(1)
    there, back = (torch.rand(2, 3, 4, dtype=torch.float64) / 8 * cells for _ in range(2))
    expected = 0.0
    for b in range(2):
        for i in range(3):
            if target_mask[b, i]:
                for j in range(4):
                    if source_mask[b, j]:
                        expected -= (
                            there[b, i, j] * logs.forward[b, i, j] + back[b, i, j] * logs.backward[b, i, j]
                        )
                expected -= (1 - there[b, i].sum()) * logs.forward[b, i, -1]
        for j in range(4):
            if source_mask[b, j]:
                expected -= (1 - back[b, :, j].sum()) * logs.backward[b, -1, j]
    torch.testing.assert_close(guided_two_way(logs, (there, back), target_mask, source_mask), expected)


def test_more_links_than_a_word_can_have_share_it(case):
    *_, target_mask, source_mask = case
    logs = two_way_softmax(*case)
    links = torch.zeros(2, 3, 4, dtype=torch.float64)
    links[0, 1, :2] = torch.tensor([0.9, 0.6])
    expected = -(0.6 * logs.forward[0, 1, 0] + 0.4 * logs.forward[0, 1, 1])
    expected -= logs.forward[0, [0, 2], -1].sum() + logs.forward[1, 0, -1]
    expected -= 0.9 * logs.backward[0, 1, 0] + 0.1 * logs.backward[0, -1, 0]
    expected -= 0.6 * logs.backward[0, 1, 1] + 0.4 * logs.backward[0, -1, 1] + logs.backward[1, -1].sum()
    torch.testing.assert_close(guided_two_way(logs, (links, links), target_mask, source_mask), expected)


def test_gradients_are_finite_although_padding_has_a_probability_of_zero(case):
    energies, *nulls, target_mask, source_mask = case
    energies = energies.requires_grad_()
    logs = two_way_softmax(energies, *nulls, target_mask, source_mask)
    links = (target_mask.unsqueeze(2) & source_mask.unsqueeze(1)).double() / 8
    guided_two_way(logs, (links, links), target_mask, source_mask).backward()
    assert energies.grad.isfinite().all()
    assert energies.grad[0, :, 2:].abs().sum() == 0


def test_directions_that_agree_cost_nothing():
    alpha = torch.rand(2, 3, 4)
    assert disagreement(alpha, alpha) == 0
    torch.testing.assert_close(disagreement(alpha, alpha + 0.5), torch.tensor(24 * 0.25))
