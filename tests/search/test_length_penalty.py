"""Log-probability → score."""

import pytest

from regard.search.options import length_normalised


def test_powers():
    assert length_normalised(-6.0, 4, 0.0) == -6.0
    assert length_normalised(-6.0, 4, 1.0) == -1.5
    assert length_normalised(-6.0, 4, 0.5) == -3.0


def test_the_penalty_of_wu_et_al():
    # (5 + 13)/6 = 3
    assert length_normalised(-6.0, 13, 1.0, "wu") == pytest.approx(-2.0)
    assert length_normalised(-6.0, 13, 0.5, "wu") == pytest.approx(-6.0 / 3**0.5)
    assert length_normalised(-6.0, 1, 0.7, "wu") == -6.0


def test_none():
    assert length_normalised(-6.0, 13, 1.0, "none") == -6.0
