"""Labels needed: read off a curve by hand, and laws of reading off."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.lab.measures.labels_saved import labels_needed

COUNTS = [100, 200, 400, 800]


@pytest.mark.parametrize(
    ("wanted", "needed"),
    [
        (40, 100),
        (50, 100),
        (55, 100 * math.sqrt(2)),
        (60, 200),
        (75, 200 * 2 ** (15 / 20)),
        (80, 400),
        (90, 800),
        (90.1, math.inf),
    ],
)
def test_by_hand(wanted, needed):
    assert labels_needed(COUNTS, [50, 60, 80, 90], wanted) == pytest.approx(needed)


def test_a_curve_that_falls_again_counts_where_it_first_got_there():
    assert labels_needed(COUNTS, [50, 70, 55, 90], 60) == pytest.approx(100 * math.sqrt(2))
    assert labels_needed(COUNTS, [50, 50, 50, 50], 50.1) == math.inf


@given(st.lists(st.floats(0, 100), min_size=4, max_size=4), st.floats(0, 100), st.floats(0, 100))
def test_more_accuracy_never_takes_fewer_labels(accuracies, one, other):
    low, high = sorted((one, other))
    # exp and log leave the last digits in doubt
    assert labels_needed(COUNTS, accuracies, low) <= labels_needed(COUNTS, accuracies, high) * (1 + 1e-9)
    assert labels_needed(COUNTS, accuracies, max(accuracies)) <= 800 * (1 + 1e-9)
