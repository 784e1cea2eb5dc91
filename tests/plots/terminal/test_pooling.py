import numpy as np
import pytest
from rich.cells import cell_len

from regard.plots.terminal.words import TerminalPooling
from regard.tasks.classify.result import Classification

FILM = Classification(
    ("a dull film",),
    "bad",
    {"good": 0.2, "bad": 0.7, "odd": 0.1},
    (("a", "dull", "film"),),
    ((0, 1, 2),),
    (np.array([0.0, 0.3, 0.15]),),
)
PAIR = Classification(
    ("one", "two"), "x", {"x": 1.0}, (("one",), ("two",)), ((0,), (0,)), (np.array([0.6]), np.array([0.6]))
)


def test_as_plain_text(plain):
    assert plain(TerminalPooling([FILM])) == [
        "bad: 70 %   good: 20 %   odd: 10 %",
        "  a dull film",
        "    ████ ▒▒▒▒",
        "  pooling weight 0   ░░▒▒▓▓██ 0.3",
    ]


def test_several_have_one_scale(plain):
    assert plain(TerminalPooling([FILM, PAIR])) == [
        "bad: 70 %   good: 20 %   odd: 10 %",
        "  a dull film",
        "    ▒▒▒▒ ░░░░",
        "",
        "x: 100 %",
        "  one",
        "  ███",
        "  two",
        "  ███",
        "  pooling weight 0   ░░▒▒▓▓██ 0.6",
    ]
    assert plain(TerminalPooling([FILM], end=0.6))[-2] == "    ▒▒▒▒ ░░░░"


def test_without_weights(plain):
    bare = Classification(("a film",), "x", {"x": 1.0}, (("a", "film"),), ((0, 1),), None)
    assert plain(TerminalPooling([bare])) == ["x: 100 %", "  a film"]


def test_a_label_that_does_not_fit_is_left_out(plain):
    assert plain(TerminalPooling([FILM]), 27)[0] == "bad: 70 %   good: 20 %"
    wide = Classification(("a",), "x", {"x": 0.6, "図書館": 0.4}, (("a",),), ((0,),), None)
    assert plain(TerminalPooling([wide]), 20)[0] == "x: 60 %"  # 22 columns, though 19 characters
    assert plain(TerminalPooling([wide]), 22)[0] == "x: 60 %   図書館: 40 %"


@pytest.mark.parametrize("width", [12, 30, 80])
def test_no_line_is_too_wide(plain, width):
    wide = Classification(
        ("word " * 30,),
        "図書館図書館",
        {"図書館図書館": 0.5, "other": 0.5},
        (("word",) * 30,),
        (tuple(range(30)),),
        (np.full(30, 1 / 30),),
    )
    assert max(map(cell_len, plain(TerminalPooling([wide]), width))) <= width
