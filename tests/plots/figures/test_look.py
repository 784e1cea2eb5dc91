"""Looks: told apart without colour, and axes that carry no more than they need."""

import itertools

import pytest

from regard.plots.figures.canvas import LOOKS, dress, look, new_figure
from regard.plots.figures.lettering import families_for


def lightness(colour):
    """Relative luminance of an sRGB colour, 0 to 1, after the Web Content Accessibility Guidelines."""
    shares = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_no_two_looks_share_a_mark_and_a_dash_or_a_colour():
    for one, other in itertools.combinations(LOOKS, 2):
        assert one.mark != other.mark
        assert one.colour != other.colour
        assert (str(one.dash), lightness(one.colour)) != (str(other.dash), lightness(other.colour))


def test_neighbours_differ_in_dash_or_clearly_in_lightness():
    for one, other in itertools.pairwise(LOOKS[:5]):
        contrast = (max(map(lightness, (one.colour, other.colour))) + 0.05) / (
            min(map(lightness, (one.colour, other.colour))) + 0.05
        )
        assert str(one.dash) != str(other.dash) or contrast > 1.5


@pytest.mark.parametrize("k", range(len(LOOKS)))
def test_every_colour_can_be_seen_on_white(k):
    # 3 to 1 is what thin lines want; amber has somewhat less, and its dots and mark
    assert 1.05 / (lightness(LOOKS[k].colour) + 0.05) > 2.2


def test_beyond_the_last_they_come_round_again():
    assert look(0) == LOOKS[0]
    assert look(len(LOOKS) - 1) == LOOKS[-1]
    assert look(len(LOOKS)) == LOOKS[0]


@pytest.mark.parametrize(
    ("grid", "lines"), [("x", (True, False)), ("y", (False, True)), ("both", (True, True))]
)
def test_dressed_axes_have_two_sides_and_the_lines_asked_for(grid, lines):
    axes = new_figure(3, 2).add_axes((0.2, 0.2, 0.7, 0.7))
    families = families_for(["1"])
    dress(axes, families, grid=grid)
    assert {side for side, spine in axes.spines.items() if spine.get_visible()} == {"left", "bottom"}
    shown = tuple(
        any(line.get_visible() for line in axis.get_gridlines()) for axis in (axes.xaxis, axes.yaxis)
    )
    assert shown == lines
    assert all(label.get_family() == list(families) for label in axes.get_xticklabels())
