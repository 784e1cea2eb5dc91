import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from regard.plots.colours import ASCII_BLOCKS, BLOCKS, HIGHLIGHT, INK, weight_colour
from regard.plots.terminal.words import WeightedWords

WORDS = ["the", "extraordinarily", "図書館", "a", "\x1bm"]


def lines(writer, *given, **named):
    return [line.plain for line in writer.paragraph(*given, **named)]


def test_blocks_are_below_their_words():
    writer = WeightedWords(40, False, BLOCKS)
    assert lines(writer, ["the", "図書館", "a"], [0.5, 1.0, 0.1], newest=2, gutter="7 ") == [
        "7 the 図書館 [a]",
        "  ▒▒▒ ██████",
    ]
    assert lines(WeightedWords(40, False, ASCII_BLOCKS), ["the"], [1.0]) == ["the", "###"]


def test_no_line_of_blocks_where_there_are_none():
    assert lines(WeightedWords(40, False, BLOCKS), ["a", "b"], [0.0, 0.1]) == ["a b"]


def test_further_lines_are_indented():
    writer = WeightedWords(12, False, BLOCKS)
    assert lines(writer, ["one", "two", "three"], [0, 1, 0], newest=2, gutter="10  ") == [
        "10  one two",
        "        ███",
        "    [three]",
    ]


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=30),
    st.integers(12, 90),
    st.booleans(),
    st.booleans(),
)
def test_no_line_is_too_wide_and_no_word_is_lost(words, width, colour, newest):
    writer = WeightedWords(width, colour, BLOCKS)
    number = len(words) - 1 if newest else None
    shown = lines(writer, words, [1.0] * len(words), newest=number, gutter="1  ")
    assert max(map(cell_len, shown)) <= width
    assert not any("\x1b" in line for line in shown)
    written = [line for line in shown if "█" not in line]
    assert len(re.findall(r"[^\s\[\]]+", " ".join(written))) == len(words) + 1  # and the gutter


def test_with_colour_each_word_has_the_colour_of_its_weight():
    (line,) = WeightedWords(40, True, BLOCKS).paragraph(["the", "cat"], [0.3, 0.1], newest=1)
    assert line.plain == " the  cat "
    styles = [span.style for span in line.spans]
    assert [style.bgcolor.name for style in styles] == [weight_colour(0.3), weight_colour(0.1)]
    assert [style.color.name for style in styles] == [INK, HIGHLIGHT]
    assert [style.bold for style in styles] == [False, True]
    assert [style.underline for style in styles] == [False, True]


@pytest.mark.parametrize(("colours", "shaded"), [("truecolor", True), ("256", True), ("standard", False)])
def test_shades_only_where_there_are_enough_colours(colours, shaded):
    console = Console(file=io.StringIO(), width=50, force_terminal=True, color_system=colours)
    writer = WeightedWords.on(console, console.options)
    assert writer.colour is shaded
    assert writer.width == 50
