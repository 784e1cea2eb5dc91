import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.plots.colours import (
    ACCENT,
    ASCII_BLOCKS,
    HIGHLIGHT,
    INK,
    LINE_STYLES,
    MUTED,
    TAG_COLOURS,
    highlight_is_legible,
    line_style,
    scale_end,
    weight_block,
    weight_colour,
)


def luminance(colour):
    """Relative luminance, as the Web Content Accessibility Guidelines define it."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_white_is_nothing_and_the_full_shade_is_all():
    assert weight_colour(0) == "#ffffff"
    assert weight_colour(1) == ACCENT
    middle = [int(weight_colour(0.5)[k : k + 2], 16) for k in (1, 3, 5)]
    ends = [(255 + int(ACCENT[k : k + 2], 16)) / 2 for k in (1, 3, 5)]
    assert middle == pytest.approx(ends, abs=1)
    assert weight_colour(-0.1) == weight_colour(math.nan) == weight_colour(0)
    assert weight_colour(1.1) == weight_colour(1)


@given(st.floats(0, 1))
def test_letters_are_legible_on_every_shade(weight):
    assert contrast(INK, weight_colour(weight)) >= 4.5
    if highlight_is_legible(weight):
        assert contrast(HIGHLIGHT, weight_colour(weight)) >= 4.5


def test_the_newest_word_is_red_on_white_and_soft_ink_is_legible():
    assert highlight_is_legible(0)
    assert not highlight_is_legible(1)
    assert contrast(MUTED, "#ffffff") >= 4.5
    assert len(set(TAG_COLOURS)) == len(TAG_COLOURS)
    assert min(contrast(INK, tint) for tint in TAG_COLOURS) >= 4.5


def test_full_and_empty_differ_in_grey():
    assert luminance("#ffffff") - luminance(ACCENT) > 0.6


def test_blocks_darken_with_the_weight():
    assert [weight_block(weight) for weight in (0, 0.12, 0.13, 0.5, 0.7, 1, 2)] == list("··░▒▓██")
    assert weight_block(0.5, ASCII_BLOCKS) == "+"


@given(st.floats(0, 1))
def test_a_scale_ends_at_the_next_tenth(greatest):
    end = scale_end(greatest)
    assert round(10 * end, 9) == int(round(10 * end, 9))
    assert 0.1 <= end <= 1
    assert greatest <= end + 1e-6
    assert end < greatest + 0.1 + 1e-6 or end == 0.1


def test_a_scale_for_an_exact_tenth_ends_there():
    assert scale_end(0.1 + 0.2) == 0.3


def lightness(colour):
    """Relative luminance of an sRGB colour, 0 to 1, after the Web Content Accessibility Guidelines."""
    shares = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_no_two_looks_share_a_mark_and_a_dash_or_a_colour():
    for one, other in itertools.combinations(LINE_STYLES, 2):
        assert one.marker != other.marker
        assert one.colour != other.colour
        assert (str(one.dash), lightness(one.colour)) != (str(other.dash), lightness(other.colour))


def test_neighbours_differ_in_dash_or_clearly_in_lightness():
    for one, other in itertools.pairwise(LINE_STYLES[:5]):
        contrast = (max(map(lightness, (one.colour, other.colour))) + 0.05) / (
            min(map(lightness, (one.colour, other.colour))) + 0.05
        )
        assert str(one.dash) != str(other.dash) or contrast > 1.5


@pytest.mark.parametrize("k", range(len(LINE_STYLES)))
def test_every_colour_can_be_seen_on_white(k):
    # 3 to 1 is what thin lines want; amber has somewhat less, and its dots and mark
    assert 1.05 / (lightness(LINE_STYLES[k].colour) + 0.05) > 2.2


def test_styles_repeat_after_the_last():
    assert line_style(0) == LINE_STYLES[0]
    assert line_style(len(LINE_STYLES) - 1) == LINE_STYLES[-1]
    assert line_style(len(LINE_STYLES)) == LINE_STYLES[0]
