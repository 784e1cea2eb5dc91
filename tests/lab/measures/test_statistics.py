"""Means and deviations against the standard library's, which computes them otherwise."""

import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.lab.measures.statistics import (
    Parts,
    Spread,
    average,
    critical_t,
    crossing,
    fit_parts,
    fitted_exponent,
    over_seeds,
)

NUMBERS = st.floats(-1e6, 1e6)


@given(st.lists(NUMBERS, min_size=2, max_size=20))
def test_mean_and_deviation_are_the_statisticians(values):
    spread = Spread.of(values)
    # both sum exactly and round at the end; a few roundings of 1e6 lie between them
    assert spread.mean == pytest.approx(statistics.mean(values), rel=1e-12, abs=1e-9)
    assert spread.deviation == pytest.approx(statistics.stdev(values), rel=1e-9, abs=1e-9)
    assert spread.error**2 * len(values) == pytest.approx(spread.deviation**2, rel=1e-9, abs=1e-9)


@given(st.lists(NUMBERS, min_size=2, max_size=9))
def test_the_interval_is_students_about_the_mean(values):
    spread = Spread.of(values)
    low, high = spread.interval
    assert low <= spread.mean <= high
    half = critical_t(len(values)) * statistics.stdev(values) / math.sqrt(len(values))
    assert spread.half == pytest.approx(half, rel=1e-9, abs=1e-6)
    assert (low, high) == pytest.approx((spread.mean - half, spread.mean + half), rel=1e-6, abs=1e-6)


def test_of_one_number_the_mean_is_unknown():
    assert Spread.of([3]).interval == (-math.inf, math.inf)
    assert Spread.of([3]).half == 0.0


def test_an_average_is_taken_number_by_number():
    runs = [
        {"a": {"b": [1, 2.0]}, "word": "first", "none": None, "yes": True, "rare": 4},
        {"a": {"b": [3, 5.0]}, "word": "other", "none": 1, "yes": False},
    ]
    assert average(runs) == {"a": {"b": [2.0, 3.5]}, "word": "first", "none": None, "yes": True, "rare": 4}
    assert average([{"x": ["a"]}, {"x": ["b", "c"]}]) == {"x": ["a"]}, "of another length"


def test_one_number_has_no_deviation():
    assert Spread.of([3]).deviation == 0.0
    assert Spread.of([3]).mean == 3.0


def test_the_numbers_are_kept_in_their_order_as_floats():
    spread = Spread.of(iter([3, 1, 2]))
    assert spread.values == (3.0, 1.0, 2.0)
    assert all(isinstance(value, float) for value in spread.values)
    written = spread.to_json()
    assert written.pop("interval") == pytest.approx([2 - 2.92 / math.sqrt(3), 2 + 2.92 / math.sqrt(3)])
    assert written == {"mean": 2.0, "deviation": 1.0, "values": [3.0, 1.0, 2.0]}


def test_one_number_of_several_models():
    models = [{"bleu": 3.0, "perplexity": 7.0}, {"bleu": 5.0, "perplexity": 8.0}]
    assert over_seeds(models, "bleu") == Spread.of([3, 5])


def tail(t, degrees, steps=40_000):
    """P(T > t) of Student's distribution, by the trapezoid rule over its density in t = tan θ."""
    constant = math.gamma((degrees + 1) / 2) / (math.sqrt(degrees * math.pi) * math.gamma(degrees / 2))
    low, high = math.atan(t), math.pi / 2 - 1e-9
    width = (high - low) / steps

    def density(angle):
        x = math.tan(angle)
        return constant * (1 + x * x / degrees) ** (-(degrees + 1) / 2) / math.cos(angle) ** 2

    inner = math.fsum(density(low + k * width) for k in range(1, steps))
    return width * (inner + (density(low) + density(high)) / 2)


@pytest.mark.parametrize("count", range(2, 11))
def test_the_critical_value_is_passed_one_time_in_twenty(count):
    assert tail(critical_t(count), count - 1) == pytest.approx(0.05, abs=5e-4)


def test_few_and_many():
    assert critical_t(1) == math.inf
    assert critical_t(50) == critical_t(10)


def test_where_a_curve_rises_through_a_level():
    assert crossing([0.5, 1.0, 2.0], [0.4, 0.8, 1.6], 1.0) == pytest.approx(1.25)
    assert crossing([1.0, 2.0, 3.0], [0.5, 1.0, 0.5], 1.0) == 2.0
    assert math.isnan(crossing([1.0, 2.0], [0.2, 0.4], 1.0))


LENGTHS = [8, 16, 32, 64, 128, 256]
GRID = [(l1, l2) for l1 in (16, 64, 256) for l2 in (16, 64, 256)]


@pytest.mark.parametrize("power", [0.5, 1, 1.7, 2])
def test_a_power_has_its_exponent(power):
    assert fitted_exponent(LENGTHS, [3 * n**power for n in LENGTHS]) == pytest.approx(power)


def test_the_longer_half_alone_counts():
    costs = [1000, 1000, 1000, 64**2, 128**2, 256**2]
    assert fitted_exponent(LENGTHS, costs) == pytest.approx(2)


def test_a_linear_part_keeps_the_exponent_below_two():
    found = fitted_exponent(LENGTHS, [100 * n + n**2 for n in LENGTHS])
    assert 1.4 < found < 1.75


def test_what_is_not_above_zero_has_no_exponent():
    assert math.isnan(fitted_exponent(LENGTHS, [1, 2, 3, 4, 0, 6]))


def test_parts_that_were_put_in_are_found():
    parts = Parts(constant=50.0, source=3.0, target=7.0, pair=0.25)
    found = fit_parts(GRID, [parts.cost(*pair) for pair in GRID])
    for name in ("constant", "source", "target", "pair"):
        assert getattr(found, name) == pytest.approx(getattr(parts, name), rel=1e-6)


def test_source_and_target_are_told_apart():
    assert Parts(1, 10, 100, 1000).cost(2, 3) == 1 + 20 + 300 + 6000


def test_no_part_is_below_zero_and_none_admissible_fits_better():
    """A concave cost wants a negative pair; held against a fine search of the admissible ones."""
    costs = [(l1 + l2) ** 0.8 for l1, l2 in GRID]
    found = fit_parts(GRID, costs)
    values = (found.constant, found.source, found.target, found.pair)
    assert min(values) >= 0
    assert found.pair == 0

    def error(parts):
        return sum((parts.cost(*pair) / cost - 1) ** 2 for pair, cost in zip(GRID, costs, strict=True))

    dice = random.Random(1)
    for _ in range(300):
        other = Parts(*(abs(value + dice.gauss(0, 0.1 * value + 1e-4)) for value in values))
        assert error(other) >= error(found) - 1e-12
