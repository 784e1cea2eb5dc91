import pytest

from regard.errors import RegardError
from regard.training.guards import LossGuard, halve

ADVICE = "lower it"


def observe(*losses):
    guard = LossGuard()
    for loss in losses:
        guard.observe(loss, ADVICE)
    return guard


def test_ordinary_losses_are_no_divergence():
    """A rise on other data, a spike, a long plateau with noise, a trained model that starts low."""
    for losses in (
        [9.0, 12.0, 20.0, 8.0],
        [9.0, 500.0, 500.0, 500.0, 500.0, 9.0] * 5,
        [5.0, 5.1] * 100,
        [0.01, 0.5, 3.0, 6.0, 1.0],
        [9.0, *(9.0 + k / 100 for k in range(19)), 9.0],
    ):
        observe(*losses).refuse_high(ADVICE)


def test_losses_far_above_the_first():
    with pytest.raises(
        RegardError, match=r"the loss grew from 9 to 1e\+03 nats per .*: training has diverged; lower it"
    ):
        observe(9.0, *[1000.0] * 5)
    with pytest.raises(RegardError, match="diverged"):
        observe(9.0, 8.0, 1000.0).refuse_high(ADVICE)


def test_losses_that_only_grow():
    with pytest.raises(RegardError, match="the loss grew from 5 to 7"):
        observe(5.0, *(5 + k / 10 for k in range(1, 30)))


def test_skipped_updates_in_a_row():
    guard = LossGuard()
    for reason in ["the loss is nan"] * 9 + [""] + ["the loss is nan"] * 9:
        guard.count_skipped(reason, "", ADVICE)
    assert guard.num_skipped == 18
    with pytest.raises(
        RegardError, match="the loss is nan, 10 updates in a row: training has diverged; lower it"
    ):
        guard.count_skipped("the loss is nan", "", ADVICE)


def test_weights_that_are_not_finite_never_recover():
    guard = observe(5.0)
    with pytest.raises(
        RegardError, match=r"the loss is nan \(it was 5 before\), and so is W: training has diverged"
    ):
        guard.count_skipped("the loss is nan", "W", ADVICE)


def test_halves():
    assert halve([[1, 2, 3], [4]]) == [[1, 2], [3], [4]]
    assert halve([[1], [2]]) is None
