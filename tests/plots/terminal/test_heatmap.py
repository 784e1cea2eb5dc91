import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from regard.errors import DataError
from regard.plots.colours import cell_colour
from regard.plots.terminal.heatmap import TerminalAlignment


def plain(picture, width=80, encoding="utf-8"):
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    Console(file=file, width=width).print(picture)
    file.flush()
    return file.buffer.getvalue().decode(encoding).splitlines()


SMALL = TerminalAlignment(
    np.array([[0.9, 0.1, 0.0], [0.0, 0.3, 0.5], [0.02, 0.7, 0.28]]),
    ["the", "black", "cats"],
    ["les", "chats", "noirs"],
)


def test_as_plain_text():
    assert plain(SMALL) == [
        "      the",
        "      │  black",
        "      │  │  cats",
        "  les ██ ·  ·",
        "chats ·  ░░ ▒▒",
        "noirs ·  ▓▓ ░░",
        "",
        "      attention 0 ··░░▒▒▓▓██ 1",
    ]


def test_without_unicode():
    assert plain(SMALL, encoding="ascii") == [
        "      the",
        "      |  black",
        "      |  |  cats",
        "  les ## .  .",
        "chats .  -- ++",
        "noirs .  ** --",
        "",
        "      attention 0 ..--++**## 1",
    ]


def test_narrow_cells_before_a_second_block():
    picture = TerminalAlignment(np.eye(20), ["w"] * 20, ["to"] * 20)
    wide, narrow = plain(picture, 80), plain(picture, 55)
    assert wide[0] == "   " + "  ".join("w" * 20)
    assert narrow[0] == "   " + " ".join("w" * 20)
    assert wide[1].startswith("to ██ ·  ·")
    assert narrow[1].startswith("to ██· · ·")


def test_short_words_share_a_line():
    picture = TerminalAlignment(np.eye(3), ["I", "a", "see"], ["x", "y", "z"])
    assert plain(picture)[0] == "  I  a  see"


def test_with_colour_every_cell_is_its_grey():
    file = io.StringIO()
    Console(file=file, width=80, force_terminal=True, color_system="truecolor").print(SMALL)
    line = file.getvalue().splitlines()[3]
    for weight in (0.9, 0.1, 0.0):
        red, green, blue = bytes.fromhex(cell_colour(weight)[1:])
        assert f"48;2;{red};{green};{blue}m   " in line
    assert "█" not in line


def test_with_sixteen_colours_the_cells_are_blocks():
    file = io.StringIO()
    Console(file=file, width=80, force_terminal=True, color_system="standard").print(SMALL)
    assert "█" in file.getvalue()
    assert "\x1b[4" not in file.getvalue()  # no background


def test_fifteen_words_fit_into_eighty_columns():
    words = [f"wordings{k}" for k in range(15)] + ["</s>"]
    lines = plain(TerminalAlignment(np.eye(16), words, words))
    assert max(map(cell_len, lines)) <= 80
    assert len(lines) <= 34
    for k, word in enumerate(words[:14]):
        assert any(line.endswith(word) for line in lines[:16])
        row = next(line for line in lines[15:] if line.split()[0] == word)
        column = next(line for line in lines if line.endswith(word)).index(word)
        assert row[column : column + 2] == "██", k


@given(
    st.integers(1, 40),
    st.integers(1, 6),
    st.integers(12, 100),
    st.sampled_from(["w", "extraordinarily", "図書館"]),
)
@settings(max_examples=60, deadline=None)
def test_no_line_is_too_wide_and_no_word_is_lost(columns, rows, width, word):
    picture = TerminalAlignment(np.ones((rows, columns)), [word] * columns, ["to"] * rows)
    lines = plain(picture, width)
    *drawn, empty, key = lines
    if 3 * columns + 11 <= width:
        assert len(drawn) <= rows + columns  # all side by side
    assert max(map(cell_len, lines)) <= width
    assert sum(line.count("█") for line in drawn) == 2 * rows * columns
    assert empty == ""
    assert key.split()[-1] == "1"
    assert "█" in key


def test_unprintable_and_long_labels():
    lines = plain(TerminalAlignment(np.eye(2), ["\n", "\x1b[31m"], ["x" * 50, "y\ty"]))
    assert not any("\x1b" in line or "\t" in line for line in lines)
    assert "x" * 17 + "…" in lines[-4]
    assert "y\N{REPLACEMENT CHARACTER}y" in lines[-3]


def test_nothing_draws_nothing():
    assert plain(TerminalAlignment(np.zeros((0, 0)), [], [])) == []


def test_labels_must_fit():
    with pytest.raises(DataError, match=r"alpha has shape \(1, 1\), the labels \(2, 1\)"):
        TerminalAlignment(np.ones((1, 1)), ["a"], ["b", "c"])


def test_right_to_left_characters_stay_above_their_columns():
    lines = plain(TerminalAlignment(np.eye(3), ["ש", "ל", "a"], ["ש", "b", "c"]))
    mark = "\N{LEFT-TO-RIGHT MARK}"
    assert lines[0].split() == [f"{mark}ש", f"{mark}ל", "a"]
    assert lines[1].startswith(f"{mark}ש ")
    assert cell_len(lines[1]) == cell_len(lines[2])
