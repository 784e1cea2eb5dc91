"""Log-probability → score."""

import pytest
import torch

from regard.search.length_penalty import length_normalised


def test_powers():
    assert length_normalised(-6.0, 4, 0.0) == -6.0
    assert length_normalised(-6.0, 4, 1.0) == -1.5
    assert length_normalised(-6.0, 4, 0.5) == -3.0


def test_tensors_are_as_numbers():
    scores = length_normalised(torch.tensor([-6.0, -1.0]), torch.tensor([4, 1]), 0.6)
    assert scores.tolist() == pytest.approx([length_normalised(-6.0, 4, 0.6), -1.0])
