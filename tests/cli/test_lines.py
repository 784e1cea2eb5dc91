"""The progress of a pass over lines, in a pipe."""

import gzip
import re

import pytest

import regard.progress
from regard.cli import progress
from regard.cli.progress import LinesDisplay


class Clock:
    """Ten seconds more at each look."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        self.now += 10.0
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    shared = Clock()
    for module in (regard.progress, progress):
        monkeypatch.setattr(module, "time", shared)


class Result:
    """The result of a line, with a number of tokens."""

    def __init__(self, tokens):
        self.tokens = ("y",) * tokens


def test_lines_in_a_pipe(capsys):
    """Now and then a line, with the rate and what is left; nothing on standard output."""
    with LinesDisplay("translating", 4) as display:
        display(Result(5))
        display(Result(7))
    out, err = capsys.readouterr()
    assert out == ""
    first = err.splitlines()[0]
    assert re.fullmatch(r"translating  25 %  1 line  0:\d\d elapsed, 0:\d\d left  \d tokens/s", first), first


def test_lines_without_a_known_end(capsys):
    with LinesDisplay("aligning") as display:
        display(Result(5))
    assert re.match(r"aligning  1 line  0:\d\d elapsed  \d tokens/s", capsys.readouterr().err)


def test_a_short_job_says_nothing(capsys, monkeypatch):
    still = type("Still", (), {"monotonic": staticmethod(lambda: 5.0)})
    for module in (regard.progress, progress):
        monkeypatch.setattr(module, "time", still)
    with LinesDisplay("translating", 2) as display:
        display(Result(5))
    assert capsys.readouterr().err == ""


def test_lines_and_tokens_are_counted(capsys):
    with LinesDisplay("classifying") as display:
        for tokens in (1237, 2, 1):
            display.count(tokens)
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("classifying  3 lines  ")
    speed = int(last.split(" elapsed  ")[1].split(" tokens/s")[0].replace(",", ""))
    assert speed > 1240 / 120, "all tokens over all the time, of which a look at the clock takes ten seconds"


def test_where_only_a_terminal_is_told(capsys):
    with LinesDisplay("translating", plain=False) as display:
        for _ in range(3):
            display(Result(5))
    assert capsys.readouterr().err == ""


def test_the_lines_of_files_are_counted(capsys, tmp_path):
    """Per cent and time left are known of files, and not of standard input."""
    (tmp_path / "a").write_text("1\n2\n\n")
    with gzip.open(tmp_path / "b.gz", "wt") as file:
        file.write("4")  # a last line without its end
    with LinesDisplay("translating", files=[tmp_path / "a", str(tmp_path / "b.gz")]) as display:
        display(Result(5))
    assert capsys.readouterr().err.startswith("translating  25 %  1 line  ")
    for files in (["-"], [tmp_path / "a", tmp_path / "missing"], [tmp_path]):
        with LinesDisplay("translating", files=files) as display:
            display(Result(5))
        assert capsys.readouterr().err.startswith("translating  1 line  "), files
