import numpy as np
import pytest

from regard.errors import DataError
from regard.plots.colours import weight_colour
from regard.plots.terminal.words import TerminalReading

ALPHA = np.array([[0, 0, 0], [1.0, 0, 0], [0.2, 0.8, 0]])


def test_as_plain_text(plain):
    assert plain(TerminalReading(["The", "FBI", "is"], ALPHA)) == [
        "1  [The]",
        "2  The [FBI]",
        "   ███",
        "3  The FBI [is]",
        "   ░░░ ▓▓▓",
        "   attention 0   ░░▒▒▓▓██ 1",
    ]


def test_without_unicode(plain):
    assert plain(TerminalReading(["The", "FBI", "is"], ALPHA), encoding="ascii")[-2] == "   --- ***"


def test_with_colour_the_background_is_the_weight(coloured):
    last = coloured(TerminalReading(["The", "FBI", "is"], ALPHA)).splitlines()[2]
    for weight in (0.2, 0.8, 0.0):
        red, green, blue = bytes.fromhex(weight_colour(weight)[1:])
        assert f"48;2;{red};{green};{blue}m" in last


def test_numbers_are_aligned(plain):
    words = [f"w{k}" for k in range(12)]
    lines = plain(TerminalReading(words, np.zeros((12, 12))))
    assert lines[0] == " 1  [w0]"
    assert lines[-2].startswith("12  w0 w1")


def test_nothing_draws_nothing(plain):
    assert plain(TerminalReading([], np.zeros((0, 0)))) == []


def test_labels_must_fit():
    with pytest.raises(DataError, match=r"alpha has shape \(1, 1\), but there are 2 labels"):
        TerminalReading(["a", "b"], np.zeros((1, 1)))
