import pytest
import torch

from regard.models.state import at_positions, real_positions

MASK = torch.tensor([[True, True, False], [True, False, False], [True, True, True]])


def test_positions_are_counted_row_by_row():
    assert real_positions(MASK).tolist() == [0, 1, 3, 6, 7, 8]
    assert real_positions(torch.zeros(2, 2, dtype=torch.bool)).tolist() == []


@pytest.mark.parametrize("shape", [(3, 3), (3, 3, 4)])
def test_it_is_selection_by_the_mask_with_its_gradient(shape):
    ours, theirs = (torch.randn(shape, dtype=torch.float64).requires_grad_() for _ in range(2))
    theirs.data.copy_(ours.data)
    found, expected = at_positions(ours, real_positions(MASK)), theirs[MASK]
    assert torch.equal(found, expected)
    for values in (found, expected):
        (values**3).sum().backward()
    assert torch.equal(ours.grad, theirs.grad)
    assert not ours.grad[~MASK].any()
