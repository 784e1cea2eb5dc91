"""One line of progress, in terminals of any width."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from regard import progress
from regard.progress import ProgressBar, Status, extrapolate

FACTS = ("update 1,500", "loss 2.346", "12,346 tokens/s", "learning rate 0.001")
STATUS = Status("training", "epoch 12.4", 0.425, 3900.0, 5276.0, FACTS)
NEEDED = "training  42 %  epoch 12.4  1:05:00 elapsed, 1:27:56 left"


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (None, "  ".join([NEEDED, *FACTS])),
        (121, "  ".join([NEEDED, *FACTS])),
        (120, "  ".join([NEEDED, *FACTS[:3]])),
        (80, "  ".join([NEEDED, *FACTS[:1]])),
        (60, NEEDED),
        (20, NEEDED),
    ],
)
def test_what_there_is_no_room_for_is_left_out(width, line):
    """Facts go from the end; what is being done, per cent, epoch, elapsed and left are always there."""
    assert STATUS.line(width) == line


def test_what_is_not_known_is_not_said():
    assert Status("aligning", "3 lines", None, 61.0).line() == "aligning  3 lines  1:01 elapsed"
    assert Status("aligning", "0 lines", 0.0, 1.0).line() == "aligning  0 %  0 lines  0:01 elapsed"


def test_an_even_job():
    assert extrapolate(30.0, 0.25) == 90.0
    assert extrapolate(30.0, 0.0) is extrapolate(30.0, None) is None
    assert extrapolate(30.0, 1.1) == 0.0


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_a_terminal_shows_the_whole_line(width, monkeypatch):
    """Nothing is cut: a line that is too long for a very narrow terminal goes on in the next row."""
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: 0.0))
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=True, color_system=None, soft_wrap=True)
    bar = ProgressBar("training", console, live=False)
    bar._show("epoch 12.4", 0.425, 3900.0, 5276.0, FACTS)
    console.print(bar, soft_wrap=False, no_wrap=True, overflow="ignore", crop=True)  # as Live does
    rows = out.getvalue().splitlines()
    assert all(len(row.rstrip()) <= width for row in rows)
    assert " ".join(" ".join(rows).split()) == " ".join(STATUS.line(width).split())
    assert len(rows) == 1 or width == 40


def test_the_clock_runs_between_two_reports(monkeypatch):
    clock = SimpleNamespace(monotonic=lambda: 10.0)
    monkeypatch.setattr(progress, "time", clock)
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=True, color_system=None)
    bar = ProgressBar("training", console, live=False)
    bar._show("epoch 1.0", 0.5, 60.0, 60.0, ())
    clock.monotonic = lambda: 15.0
    out.truncate(0)
    console.print(bar)
    assert "1:05 elapsed, 0:55 left" in out.getvalue()
