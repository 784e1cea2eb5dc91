import math
from itertools import pairwise

import pytest

from regard.tasks.config import TrainingConfig
from regard.training.optimizer import Schedule


def factors(schedule, total=None, updates=range(1, 21), **options):
    made = Schedule(TrainingConfig(schedule=schedule, max_updates=20, **options), total)
    return [made.factor(update) for update in updates]


@pytest.mark.parametrize("schedule", ["constant", "plateau", "linear", "cosine", "inverse-sqrt", "decay"])
@pytest.mark.parametrize("warmup", [0, 1, 4])
def test_warm_up_rises_to_the_whole_rate(schedule, warmup):
    found = factors(schedule, 40, warmup=warmup, decay_from=100)
    assert found[:warmup] == [update / warmup for update in range(1, warmup + 1)]
    assert max(found) == found[max(warmup, 1) - 1] == 1.0


def test_constant():
    assert factors("constant") == [1.0] * 20


@pytest.mark.parametrize("warmup", [0, 4])
def test_linear(warmup):
    """From 1 in equal steps, so that one step beyond the last update it would be 0."""
    found = factors("linear", 40, updates=range(1, 41), warmup=warmup)
    way = 40 - warmup
    assert found[warmup:] == pytest.approx([1 - k / way for k in range(way)])
    assert factors("linear", 40, updates=[41, 42, 999], warmup=warmup) == [0.0] * 3


@pytest.mark.parametrize("warmup", [0, 4])
def test_cosine(warmup):
    found = factors("cosine", 40, updates=range(1, 41), warmup=warmup)
    way = 40 - warmup
    assert found[warmup:] == pytest.approx([(1 + math.cos(math.pi * k / way)) / 2 for k in range(way)])
    assert factors("cosine", 40, updates=[41, 999], warmup=warmup) == pytest.approx([0.0, 0.0])


@pytest.mark.parametrize("schedule", ["linear", "cosine"])
def test_a_clock_that_runs_out_first_brings_the_rate_down(schedule):
    made = Schedule(TrainingConfig(schedule=schedule, max_minutes=1), None)
    by_clock = [made.factor(5, used) for used in (0.0, 0.25, 0.5, 1.0, 1.2)]
    by_updates = [
        Schedule(TrainingConfig(schedule=schedule, max_updates=4), 4).factor(k) for k in (1, 2, 3, 5, 9)
    ]
    assert by_clock == pytest.approx(by_updates)
    both = Schedule(TrainingConfig(schedule=schedule, max_updates=4, max_minutes=1), 4)
    assert both.factor(2, 0.5) == pytest.approx(by_clock[2])
    assert both.factor(3, 0.25) == pytest.approx(by_updates[2])


def test_a_warm_up_takes_no_more_than_a_tenth_of_the_run():
    assert factors("cosine", 40, warmup=30) == factors("cosine", 40, warmup=4)
    assert factors("linear", 5, warmup=10)[0] == 1.0
    assert factors("constant", None, warmup=10)[:3] == [0.1, 0.2, 0.3]


@pytest.mark.parametrize("schedule", ["constant", "plateau", "linear", "cosine", "inverse-sqrt", "decay"])
def test_a_warm_up_takes_no_more_than_a_tenth_of_the_time(schedule):
    """However many updates it was to be: what a clock alone ends is learnt in as well."""
    config = TrainingConfig(schedule=schedule, max_minutes=1, warmup=1_000_000, decay_from=100)
    plain = TrainingConfig(schedule=schedule, max_minutes=1, decay_from=100)
    made, without = Schedule(config, None), Schedule(plain, None)
    assert [made.factor(7, used) for used in (0.01, 0.05)] == pytest.approx([0.1, 0.5])
    for used in (0.1, 0.5, 0.9):
        expected = 1.0 if schedule == "inverse-sqrt" else without.factor(7, used)
        assert made.factor(7, used) == pytest.approx(expected)
    rates = [made.factor(7, used / 1000) for used in range(1000)]
    assert max(abs(one - other) for one, other in pairwise(rates)) < 0.011, "no jump"
    assert max(rates) > 0.9


def test_inverse_square_root():
    assert factors("inverse-sqrt") == pytest.approx([update**-0.5 for update in range(1, 21)])
    found = factors("inverse-sqrt", warmup=4)
    assert found[3:] == pytest.approx([math.sqrt(4 / update) for update in range(4, 21)])


def test_decay():
    """Four updates to an epoch: whole for two epochs, then half, and half again every epoch and a half."""
    config = TrainingConfig(schedule="decay", decay_from=2, decay_every=1.5, max_updates=20)
    made = Schedule(config, 20, updates_per_epoch=4)
    found = [made.factor(update) for update in range(1, 21)]
    assert found == [1.0] * 8 + [0.5] * 6 + [0.25] * 6


def test_decay_by_another_factor():
    """The LSTMN's rate: times 0.85 after every epoch."""
    config = TrainingConfig(schedule="decay", decay_from=1, decay_factor=0.85, max_updates=20)
    made = Schedule(config, 20, updates_per_epoch=4)
    assert [made.factor(update) for update in (4, 5, 8, 9, 13)] == pytest.approx(
        [1, 0.85, 0.85, 0.85**2, 0.85**3]
    )


def test_plateau_falls_when_validation_does_not_improve():
    schedule = Schedule(TrainingConfig(schedule="plateau", plateau_decay=0.1, max_updates=20), None)
    seen = []
    for improved in (True, False, True, False):
        schedule.observe(improved)
        seen.append(schedule.factor(3))
    assert seen == pytest.approx([1, 0.1, 0.1, 0.01])


def test_validation_moves_no_other_schedule():
    schedule = Schedule(TrainingConfig(schedule="constant", max_updates=20), None)
    schedule.observe(False)
    assert schedule.factor(3) == 1.0
