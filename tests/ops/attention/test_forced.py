"""Alpha that is told: exactly one word where it is, untouched where it is not."""

import torch

from regard.ops.attention import forced_alpha


def test_told_rows_have_one_word_and_the_others_are_as_they_were():
    alpha = torch.rand(3, 2, 4, dtype=torch.float64)
    told = forced_alpha(alpha, torch.tensor([3, -1, 0]))
    assert told[0].tolist() == [[0, 0, 0, 1]] * 2
    assert torch.equal(told[1], alpha[1])
    assert told[2].tolist() == [[1, 0, 0, 0]] * 2
    assert told.dtype == alpha.dtype


def test_it_hides_what_is_not_a_number():
    """A window may leave nothing to look at; what is told does not pass through it."""
    alpha = torch.full((1, 1, 2), float("nan"))
    assert forced_alpha(alpha, torch.tensor([1])).tolist() == [[[0, 1]]]
