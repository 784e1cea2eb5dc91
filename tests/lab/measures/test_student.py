"""Student's t against numbers worked out by hand and by integration."""

import math

import pytest

from regard.lab.measures.statistics import Spread, critical_t, t_of


def test_t_by_hand():
    # mean 2, deviation 1, of three: 2 / (1 / √3)
    assert t_of(Spread.of([1.0, 2.0, 3.0])) == pytest.approx(2 * math.sqrt(3))
    assert t_of(Spread.of([-1.0, -2.0, -3.0])) == pytest.approx(-2 * math.sqrt(3))


def test_without_a_deviation_there_is_no_t():
    assert math.isnan(t_of(Spread.of([3.0])))
    assert math.isnan(t_of(Spread.of([3.0, 3.0])))


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
