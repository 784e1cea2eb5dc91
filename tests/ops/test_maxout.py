"""Maxout keeps the larger of each two neighbours."""

import pytest
import torch

from regard.ops.maxout import maxout


def test_neighbours_are_paired():
    pairs = torch.tensor([[1.0, 5.0, -2.0, -3.0, 0.0, 0.5], [2.0, 1.0, 4.0, 4.5, -1.0, -9.0]])
    assert torch.equal(maxout(pairs), torch.tensor([[5.0, -2.0, 0.5], [2.0, 4.5, -1.0]]))


@pytest.mark.parametrize("rows", [(), (1,), (2, 3), (0,)])
def test_any_rows_and_half_the_width(rows):
    pairs = torch.randn(*rows, 8)
    assert torch.equal(maxout(pairs), torch.maximum(pairs[..., 0::2], pairs[..., 1::2]))


def test_the_gradient_goes_to_the_larger():
    pairs = torch.tensor([3.0, 1.0, 2.0, 7.0], requires_grad=True)
    maxout(pairs).sum().backward()
    assert torch.equal(pairs.grad, torch.tensor([1.0, 0.0, 0.0, 1.0]))


def test_an_odd_width_is_refused():
    with pytest.raises(RuntimeError):
        maxout(torch.zeros(2, 3))
