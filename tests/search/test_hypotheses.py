"""Length limits and length penalties."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import ConfigError
from regard.search.hypotheses import length_limits, length_normalised
from regard.search.options import SearchOptions


def mask_of(lengths):
    return torch.arange(max(lengths) + 1) < torch.tensor(lengths).unsqueeze(1) + 1


def limits(lengths, **options):
    return length_limits(mask_of(lengths), SearchOptions(**options)).tolist()


@given(st.lists(st.integers(0, 20), min_size=1), st.floats(0, 4), st.integers(1, 9))
def test_a_limit_does_not_depend_on_the_rest_of_the_batch(words, ratio, extra):
    options = {"max_ratio": ratio, "max_extra": extra}
    together = limits(words, **options)
    assert together == [limits([number], **options)[0] for number in words]
    for number, allowed in zip(words, together, strict=True):
        assert allowed >= 1
        # torch multiplies in single precision
        assert abs(allowed - (number * ratio + extra)) <= 1


def test_limits_in_round_numbers():
    assert limits([0, 1, 7]) == [10, 12, 24]
    assert limits([3], max_ratio=1.5, max_extra=2) == [6]


def test_the_largest_ratio():
    assert limits([1, 90000], max_ratio=100) == [110, 9_000_010]
    with pytest.raises(ConfigError, match="max_ratio: 1e\\+15 is out of range; it must be from 0 to 100"):
        limits([1], max_ratio=1e15)


def test_powers():
    assert length_normalised(-6.0, 4, 0.0) == -6.0
    assert length_normalised(-6.0, 4, 1.0) == -1.5
    assert length_normalised(-6.0, 4, 0.5) == -3.0


def test_the_penalty_of_wu_et_al():
    # (5 + 13)/6 = 3
    assert length_normalised(-6.0, 13, 1.0, "wu") == pytest.approx(-2.0)
    assert length_normalised(-6.0, 13, 0.5, "wu") == pytest.approx(-6.0 / 3**0.5)
    assert length_normalised(-6.0, 1, 0.7, "wu") == -6.0


def test_no_penalty():
    assert length_normalised(-6.0, 13, 1.0, "none") == -6.0
