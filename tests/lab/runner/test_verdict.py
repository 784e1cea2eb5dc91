"""What the numbers say: all checks, some, none; on the bound; and what is no number."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.lab.runner import Check, Verdict

YES = Check("kept", 3.0, "at least", 2.0)
NO = Check("lost", 3.0, "at most", 2.0)
UNKNOWN = Check("found", math.nan, "at least", -math.inf)
CONTROL = Check("sums to 1", 0.0, "at most", 1e-9, control=True)
OPEN = replace(YES, interval=(1.0, 5.0))
UNLEARNED = replace(YES, given=NO)


@pytest.mark.parametrize(
    ("checks", "word"),
    [
        ([YES], "held"),
        ([YES, YES], "held"),
        ([YES, NO], "held in part"),
        ([NO, YES, UNKNOWN], "held in part"),
        ([CONTROL, YES], "held"),
        ([CONTROL, NO], "not seen here"),
        ([CONTROL, NO, YES], "held in part"),
        ([replace(NO, control=True), YES], "held in part"),
        ([NO], "not seen here"),
        ([NO, UNKNOWN], "not seen here"),
        ([UNKNOWN], "not seen here"),
        ([], "not seen here"),
        ([OPEN], "not decided"),
        ([UNLEARNED, OPEN], "not decided"),
        ([CONTROL, UNLEARNED], "not decided"),
        ([OPEN, NO], "not seen here"),
        ([OPEN, YES], "held in part"),
        ([YES, UNLEARNED], "held in part"),
    ],
)
def test_the_word_follows_from_the_checks(checks, word):
    verdict = Verdict(checks, "Because.")
    assert verdict.word == word
    assert verdict.to_json()["word"] == word


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_value_on_its_bound_holds_either_way(bound):
    assert Check("it", bound, "at least", bound).held
    assert Check("it", bound, "at most", bound).held
    above, below = math.nextafter(bound, math.inf), math.nextafter(bound, -math.inf)
    assert Check("it", above, "at least", bound).held
    assert not Check("it", above, "at most", bound).held
    assert not Check("it", below, "at least", bound).held
    assert Check("it", below, "at most", bound).held


@pytest.mark.parametrize("relation", ["at least", "at most"])
@pytest.mark.parametrize("bound", [-math.inf, 0.0, math.inf])
def test_what_is_no_number_holds_against_nothing(relation, bound):
    assert not Check("it", math.nan, relation, bound).held


def test_json_has_every_check_with_its_outcome():
    written = Verdict([Check("kept", 91.0, "at least", 80.0, " %"), NO], "Of 100, 91 stayed.").to_json()
    assert written["because"] == "Of 100, 91 stayed."
    assert written["checks"][0] == {
        "what": "kept",
        "value": 91.0,
        "relation": "at least",
        "bound": 80.0,
        "unit": " %",
        "control": False,
        "interval": None,
        "given": None,
        "outcome": "yes",
        "held": True,
    }
    assert [check["held"] for check in written["checks"]] == [True, False]


@pytest.mark.parametrize(
    ("relation", "interval", "outcome"),
    [
        ("at least", (2.0, 4.0), "yes"),
        ("at least", (1.9, 4.0), "not decided"),
        ("at least", (0.0, 1.9), "no"),
        ("at most", (0.0, 2.0), "yes"),
        ("at most", (0.0, 2.1), "not decided"),
        ("at most", (2.1, 4.0), "no"),
        ("at least", (math.nan, math.nan), "no"),
        ("at most", (math.nan, math.nan), "no"),
    ],
)
def test_all_of_the_interval_must_be_on_the_right_side(relation, interval, outcome):
    assert Check("it", 2.0, relation, 2.0, interval=interval).outcome == outcome


def test_over_seeds_the_mean_has_students_interval():
    check = Check.over_seeds("it", [1.0, 2.0, 3.0], "at least", 0.4, " m")
    assert check.value == pytest.approx(2.0)
    # t of 2 degrees of freedom is 2.92, the standard error 1/√3
    assert check.interval == pytest.approx((2 - 2.92 / math.sqrt(3), 2 + 2.92 / math.sqrt(3)))
    assert check.outcome == "not decided"
    assert Check.over_seeds("it", [1.0, 2.0, 3.0], "at least", 0.3).outcome == "yes"


def test_one_seed_decides_nothing():
    assert Check.over_seeds("it", [99.0], "at least", 0.0).outcome == "not decided"


def test_what_was_not_learned_does_not_count_and_says_why():
    learned = Check("recalled at T = 16", 31.0, "at least", 80.0, " %")
    verdict = Verdict([replace(YES, given=learned), replace(NO, given=learned), YES], "Because.")
    assert [check.outcome for check in verdict.checks] == ["not decided", "not decided", "yes"]
    assert verdict.undecided == [
        "recalled at T = 16 is 31 %, and must be at least 80 % before this may count"
    ]
    assert verdict.to_json()["undecided"] == verdict.undecided
    assert verdict.to_json()["checks"][0]["given"]["what"] == "recalled at T = 16"
    assert [replace(YES, given=YES).outcome, replace(NO, given=YES).outcome] == ["yes", "no"]
    assert "the interval from 1 to 5 includes the bound 2" in Verdict([OPEN], "").undecided[0]
