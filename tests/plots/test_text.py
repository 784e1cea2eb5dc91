from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.plots.text import (
    INVISIBLE,
    WordPosition,
    before_and_after,
    in_place,
    is_right_to_left,
    printable,
    truncate,
    wrap,
)


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
    assert printable(text) == shown


@given(st.text())
def test_what_is_left_can_be_seen(text):
    shown = printable(text)
    assert all(character.isprintable() or character in INVISIBLE for character in shown)
    assert printable(shown) == shown


def test_a_word_too_long_is_cut_and_says_so():
    assert truncate("x" * 24) == "x" * 24
    assert truncate("x" * 25) == "x" * 23 + "…"


WIDTHS = st.lists(st.integers(1, 12), max_size=40)


def test_words_stand_side_by_side_then_below():
    assert wrap([3, 4, 2, 5], 10, 1).positions == (
        WordPosition(0, 0, 3),
        WordPosition(0, 4, 4),
        WordPosition(1, 0, 2),
        WordPosition(1, 3, 5),
    )


@given(WIDTHS, st.integers(5, 40), st.integers(0, 2), st.booleans())
def test_nothing_overlaps_or_leaves_the_line(widths, room, gap, right_to_left):
    paragraph = wrap(widths, room, gap, right_to_left=right_to_left)
    assert [k for line in paragraph.lines() for k in line] == list(range(len(widths)))
    assert len(paragraph.lines()) == paragraph.num_lines
    for line in paragraph.lines():
        places = sorted((paragraph.positions[k] for k in line), key=lambda place: place.left)
        for one, other in pairwise(places):
            assert one.left + one.width + gap == pytest.approx(other.left)
        assert all(place.left >= 0 for place in places)
        assert all(place.left + place.width <= paragraph.width + 1e-9 for place in places)
        used = sum(place.width for place in places) + gap * (len(places) - 1)
        assert used <= room + 1e-9 or len(places) == 1


@given(WIDTHS, st.integers(5, 40))
def test_a_line_is_broken_only_where_it_must(widths, room):
    paragraph = wrap(widths, room, 1)
    lines = paragraph.lines()
    for line, following in pairwise(lines):
        used = sum(widths[k] for k in line) + len(line)
        assert used + widths[following[0]] > room


@given(WIDTHS, st.integers(5, 40))
def test_to_the_left_it_is_the_mirror_image(widths, room):
    there, back = wrap(widths, room, 1), wrap(widths, room, 1, right_to_left=True)
    assert (there.width, there.num_lines) == (back.width, back.num_lines)
    for one, other in zip(there.positions, back.positions, strict=True):
        assert (one.line, one.width) == (other.line, other.width)
        assert one.left + other.left + one.width == pytest.approx(there.width)


@pytest.mark.parametrize(
    ("words", "leftwards"),
    [
        (["the", "cat"], False),
        (["שלום", "cat"], True),
        (["2", ",", "كتاب"], True),
        (["<s>", "שלום"], True),
        (["日本"], False),
        (["12", "."], False),
        ([], False),
    ],
)
def test_the_first_letter_with_a_direction_decides(words, leftwards):
    assert is_right_to_left(words) is leftwards


def test_an_arrow_points_to_the_right_between_right_to_left_texts():
    mark = "\N{LEFT-TO-RIGHT MARK}"
    assert before_and_after("a", "b") == "a → b"
    shown = before_and_after("שלום", "עולם")
    assert shown.replace(mark, "") == "שלום → עולם"
    assert f"{mark}→{mark}" in shown, "else the arrow belongs to the line of Hebrew, which runs to the left"
    assert shown.startswith(mark), "else the first letter makes the whole line run to the left"


def test_a_right_to_left_label_keeps_its_place():
    assert in_place("a") == "a"
    assert in_place("ש") == "\N{LEFT-TO-RIGHT MARK}ש"
