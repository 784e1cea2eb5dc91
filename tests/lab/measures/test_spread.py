"""Means and deviations against the standard library's, which computes them otherwise."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.lab.measures.statistics import Spread, over_seeds

NUMBERS = st.floats(-1e6, 1e6)


@given(st.lists(NUMBERS, min_size=2, max_size=20))
def test_mean_and_deviation_are_the_statisticians(values):
    spread = Spread.of(values)
    # both sum exactly and round at the end; a few roundings of 1e6 lie between them
    assert spread.mean == pytest.approx(statistics.mean(values), rel=1e-12, abs=1e-9)
    assert spread.deviation == pytest.approx(statistics.stdev(values), rel=1e-9, abs=1e-9)
    assert spread.error**2 * len(values) == pytest.approx(spread.deviation**2, rel=1e-9, abs=1e-9)


@given(st.lists(NUMBERS, min_size=1, max_size=9))
def test_the_edges_lie_a_deviation_either_side(values):
    spread = Spread.of(values)
    assert spread.low <= spread.mean <= spread.high
    assert spread.high - spread.mean == pytest.approx(spread.deviation, rel=1e-6, abs=1e-6)
    assert spread.mean - spread.low == pytest.approx(spread.deviation, rel=1e-6, abs=1e-6)


def test_one_number_has_no_deviation():
    assert Spread.of([3]).deviation == 0.0
    assert Spread.of([3]).mean == 3.0


def test_the_numbers_are_kept_in_their_order_as_floats():
    spread = Spread.of(iter([3, 1, 2]))
    assert spread.values == (3.0, 1.0, 2.0)
    assert all(isinstance(value, float) for value in spread.values)
    assert spread.to_json() == {"mean": 2.0, "deviation": 1.0, "values": [3.0, 1.0, 2.0]}


def test_one_number_of_several_models():
    models = [{"bleu": 3.0, "perplexity": 7.0}, {"bleu": 5.0, "perplexity": 8.0}]
    assert over_seeds(models, "bleu") == Spread.of([3, 5])
