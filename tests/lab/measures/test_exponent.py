"""Exponents and parts are found again where they were put in."""

import math
import random

import pytest

from regard.lab.measures.statistics import Parts, fit_parts, fitted_exponent

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
