import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.plots.style import JOINERS, shortened, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words", "plain words"),
        ("«\N{NO-BREAK SPACE}oui", "« oui"),
        ("a\tb\nc", "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c"),
        ("\x1b[31m", "\N{REPLACEMENT CHARACTER}[31m"),
        ("\N{RIGHT-TO-LEFT OVERRIDE}abc\N{SOFT HYPHEN}", "abc"),
        ("می\N{ZERO WIDTH NON-JOINER}خواهم", "می\N{ZERO WIDTH NON-JOINER}خواهم"),
        ("\ue000\ud800", "\N{REPLACEMENT CHARACTER}" * 2),
    ],
)
def test_by_hand(text, shown):
    assert visible(text) == shown


@given(st.text())
def test_what_is_left_can_be_seen(text):
    shown = visible(text)
    assert all(character.isprintable() or character in JOINERS for character in shown)
    assert visible(shown) == shown


def test_a_word_too_long_is_cut_and_says_so():
    assert shortened("x" * 24) == "x" * 24
    assert shortened("x" * 25) == "x" * 23 + "…"
