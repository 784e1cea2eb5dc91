"""One polarity for all pictures of weights: white is 0, and the greater weight is darker, whatever the background."""

import io
import re

import numpy as np
import pytest
from rich.console import Console

from regard.plots import TerminalAlignment, TerminalReading, draw_heatmap, draw_reading
from regard.plots.colours import cell_colour, weight_colour
from regard.plots.html import heatmap_html, shade_key, words_html

WEIGHTS = np.array([0.0, 0.1, 0.3, 0.6, 0.85, 1.0])
LABELS = list("abcdef")


def brightness(colour):
    """Relative luminance, roughly, of red, green and blue from 0 to 255."""
    return float(np.dot(colour, [0.2126, 0.7152, 0.0722]))


def hexadecimal(colours):
    return [tuple(bytes.fromhex(colour.removeprefix("#"))) for colour in colours]


def in_figure():
    image = draw_heatmap(WEIGHTS[None], LABELS, ["x"]).axes[0].images[0]
    return (image.to_rgba(image.get_array())[0, :, :3] * 255).round().tolist()


def in_terminal(picture=None):
    file = io.StringIO()
    console = Console(file=file, width=80, force_terminal=True, color_system="truecolor")
    console.print(picture or TerminalAlignment(WEIGHTS[None], LABELS, ["x"]))
    *_, last = (line for line in file.getvalue().splitlines() if line and "attention" not in line)
    return [tuple(map(int, colour)) for colour in re.findall(r"48;2;(\d+);(\d+);(\d+)", last)]


def on_a_page():
    page = heatmap_html(LABELS, ["x"], WEIGHTS[None])
    cells = re.findall(r'<td[^>]*?title="[^"]*"', page)
    assert len(cells) == len(WEIGHTS)
    found = [re.search("background:(#[0-9a-f]{6})", cell) for cell in cells]
    (empty,) = re.findall(r"tbody td \{[^}]*background: (#\w+);", page)
    assert empty == "#fff"  # of a cell without a colour of its own
    return hexadecimal([match[1] if match else "#ffffff" for match in found])


def words_on_a_page():
    return hexadecimal(re.findall("background:(#[0-9a-f]{6})", words_html([(LABELS, WEIGHTS.tolist())])))


def reading_in_terminal():
    alpha = np.zeros((6, 6))
    alpha[-1] = WEIGHTS
    return in_terminal(TerminalReading(LABELS, alpha))


def functions():
    return hexadecimal([weight_colour(weight) for weight in WEIGHTS])


@pytest.mark.parametrize(
    "drawn", [in_figure, in_terminal, on_a_page, words_on_a_page, reading_in_terminal, functions]
)
def test_the_greater_weight_is_darker(drawn):
    shades = [brightness(colour) for colour in drawn()]
    assert len(shades) == len(WEIGHTS)
    assert shades[0] == pytest.approx(255)
    assert all(np.diff(shades) < 0), shades


def test_all_heat_maps_have_the_same_greys():
    greys = hexadecimal([cell_colour(weight) for weight in WEIGHTS])
    assert on_a_page() == in_terminal() == greys
    np.testing.assert_allclose(in_figure(), greys, atol=1)  # a scale of 256 steps


def test_the_blocks_of_a_pipe_grow_with_the_weight_and_the_key_names_their_ends():
    file = io.StringIO()
    Console(file=file, width=80).print(TerminalAlignment(WEIGHTS[None], LABELS, ["x"]))
    _, row, _, key = file.getvalue().splitlines()
    shades = "·░▒▓█"
    order = [shades.index(cell[0]) for cell in row.split()[1:]]
    assert order == sorted(order)
    assert (order[0], order[-1]) == (0, 4)
    assert key.split() == ["attention", "0", "··░░▒▒▓▓██", "1"]


def test_each_picture_has_its_key():
    figure = draw_heatmap(WEIGHTS[None], LABELS, ["x"])
    assert {"attention", "0", "1"} <= {text.get_text() for axes in figure.axes for text in axes.texts}
    reading = draw_reading(LABELS, np.eye(6))
    assert {"attention", "0", "1"} <= {text.get_text() for axes in reading.axes for text in axes.texts}
    assert shade_key() in heatmap_html(LABELS, ["x"], WEIGHTS[None])
    strip = hexadecimal(re.findall("#[0-9a-f]{6}", shade_key()))
    assert strip == hexadecimal([cell_colour(0), cell_colour(1)])  # from left to right, as its numbers
    assert re.sub("<.*?>", "", shade_key()).split() == ["attention", "0", "1"]
    assert shade_key() not in heatmap_html((), (), np.zeros((0, 0)))
    (key_style,) = re.findall(r"\.regard \.key \{(.*?)\}", heatmap_html(LABELS, ["x"], WEIGHTS[None]))
    assert "opacity" not in key_style  # its shades are those of the map
