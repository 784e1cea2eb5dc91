"""Bits that get through: none from a guess, all from a perfect copy, less than none from a sure mistake."""

import math

import pytest
import torch

from regard.lab.measures.passage import bits_through


@pytest.mark.parametrize(("length", "symbols"), [(1, 2), (7, 26), (1000, 24)])
def test_a_uniform_predictor_carries_nothing(length, symbols):
    guess = torch.full((3, length), -math.log(symbols), dtype=torch.float64)
    assert bits_through(guess, symbols).tolist() == pytest.approx([0.0] * 3, abs=1e-9)


@pytest.mark.parametrize(("length", "symbols"), [(1, 2), (7, 26), (1000, 24)])
def test_a_perfect_one_carries_all(length, symbols):
    assert bits_through(torch.zeros(2, length), symbols).tolist() == pytest.approx(
        [length * math.log2(symbols)] * 2
    )


def test_rows_are_summed_apart_and_a_sure_mistake_is_worse_than_a_guess():
    right = torch.tensor([[0.5, 0.5], [1.0, 0.25], [1 / 1024, 0.25]])
    assert bits_through(right.log(), 4).tolist() == pytest.approx([2.0, 2.0, -8.0])
