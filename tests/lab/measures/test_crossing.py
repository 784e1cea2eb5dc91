"""Where a curve rises through a level, by hand."""

import math

import pytest

from regard.lab.measures.statistics import crossing


def test_where_a_curve_rises_through_a_level():
    assert crossing([0.5, 1.0, 2.0], [0.4, 0.8, 1.6], 1.0) == pytest.approx(1.25)
    assert crossing([1.0, 2.0, 3.0], [0.5, 1.0, 0.5], 1.0) == 2.0
    assert math.isnan(crossing([1.0, 2.0], [0.2, 0.4], 1.0))
