"""Forced attention: exactly one word where it is forced, unchanged elsewhere."""

import torch

from regard.ops.attention import forced_alpha


def test_forced_rows_have_one_word_and_the_others_are_as_they_were():
    alpha = torch.rand(3, 2, 4, dtype=torch.float64)
    forced = forced_alpha(alpha, torch.tensor([3, -1, 0]))
    assert forced[0].tolist() == [[0, 0, 0, 1]] * 2
    assert torch.equal(forced[1], alpha[1])
    assert forced[2].tolist() == [[1, 0, 0, 0]] * 2
    assert forced.dtype == alpha.dtype


def test_it_hides_what_is_not_a_number():
    """A window may leave no word to attend to; forced attention ignores it."""
    alpha = torch.full((1, 1, 2), float("nan"))
    assert forced_alpha(alpha, torch.tensor([1])).tolist() == [[[0, 1]]]
