"""The naive loop over time."""

import pytest
import torch

from regard.ops.unroll import unroll


def _running_sum(x, state):
    return (state[0] + x,)


@pytest.mark.parametrize("reverse", [False, True])
def test_states_stay_at_their_words_and_padding_on_either_side_is_stepped_over(reverse):
    inputs = torch.tensor([[9.0, 1.0, 2.0, 3.0, 9.0], [1.0, 9.0, 2.0, 9.0, 4.0]]).unsqueeze(-1)
    mask = torch.tensor([[False, True, True, True, False], [True, False, True, False, True]])
    states, (last,) = unroll(_running_sum, inputs, mask, (torch.full((2, 1), 10.0),), reverse)
    ahead = [[0, 11, 13, 16, 0], [11, 0, 13, 0, 17]]
    back = [[0, 16, 15, 13, 0], [17, 0, 16, 0, 14]]
    assert states.squeeze(-1).tolist() == (back if reverse else ahead)
    assert last.squeeze(-1).tolist() == [16, 17]


def test_every_part_of_a_state_is_kept_over_padding():
    def step(x, state):
        return state[0] + x, state[1] * 2

    inputs, mask = torch.ones(1, 3, 1), torch.tensor([[True, True, False]])
    states, last = unroll(step, inputs, mask, (torch.zeros(1, 1), torch.ones(1, 1)))
    assert states.flatten().tolist() == [1, 2, 0]
    assert [part.item() for part in last] == [2, 4]
