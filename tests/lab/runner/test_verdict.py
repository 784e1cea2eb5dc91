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
        "held": True,
    }
    assert [check["held"] for check in written["checks"]] == [True, False]
