"""What is left of a run: even updates and validations are estimated exactly, whatever the first ones took."""

import pytest

from regard.training.pace import Pace


def test_the_first_update_of_a_session_decides_nothing():
    pace = Pace()
    assert pace.left(100, 0) is None
    pace.updated(60.0)
    assert pace.left(100, 0) is None
    pace.updated(0.5)
    assert pace.left(100, 0) == 50


def test_validations_to_come_are_counted():
    pace = Pace()
    for _ in range(10):
        pace.updated(0.1)
    assert pace.left(100, 4) == pytest.approx(10)
    pace.validated(30.0)  # of a model that decodes to the limit
    pace.validated(5.0)
    assert pace.validation == 5
    assert pace.left(100, 4) == pytest.approx(10 + 4 * 5)
    assert pace.left(0, 0) == 0


def test_a_machine_that_becomes_slower():
    pace = Pace()
    for seconds in [1.0] * 1000 + [2.0] * 1000:
        pace.updated(seconds)
    assert pace.left(1, 0) == pytest.approx(2, rel=0.01)
