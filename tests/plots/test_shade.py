import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.plots.figures.tags import TINTS
from regard.plots.style import ASCII_BLOCKS, FULL, INK, NEWEST, SOFT, block, red_is_legible, scale_end, shade


def luminance(colour):
    """Relative luminance, as the Web Content Accessibility Guidelines define it."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_white_is_nothing_and_the_full_shade_is_all():
    assert shade(0) == "#ffffff"
    assert shade(1) == FULL
    middle = [int(shade(0.5)[k : k + 2], 16) for k in (1, 3, 5)]
    ends = [(255 + int(FULL[k : k + 2], 16)) / 2 for k in (1, 3, 5)]
    assert middle == pytest.approx(ends, abs=1)
    assert shade(-0.1) == shade(math.nan) == shade(0)
    assert shade(1.1) == shade(1)


@given(st.floats(0, 1))
def test_letters_are_legible_on_every_shade(weight):
    assert contrast(INK, shade(weight)) >= 4.5
    if red_is_legible(weight):
        assert contrast(NEWEST, shade(weight)) >= 4.5


def test_the_newest_word_is_red_on_white_and_soft_ink_is_legible():
    assert red_is_legible(0)
    assert not red_is_legible(1)
    assert contrast(SOFT, "#ffffff") >= 4.5
    assert len(set(TINTS)) == len(TINTS)
    assert min(contrast(INK, tint) for tint in TINTS) >= 4.5


def test_full_and_empty_are_told_apart_in_grey():
    assert luminance("#ffffff") - luminance(FULL) > 0.6


def test_blocks_darken_with_the_weight():
    assert [block(weight) for weight in (0, 0.12, 0.13, 0.5, 0.7, 1, 2)] == list("··░▒▓██")
    assert block(0.5, ASCII_BLOCKS) == "+"


@given(st.floats(0, 1))
def test_a_scale_ends_at_the_next_tenth(greatest):
    end = scale_end(greatest)
    assert round(10 * end, 9) == int(round(10 * end, 9))
    assert 0.1 <= end <= 1
    assert greatest <= end + 1e-6
    assert end < greatest + 0.1 + 1e-6 or end == 0.1


def test_a_scale_for_an_exact_tenth_ends_there():
    assert scale_end(0.1 + 0.2) == 0.3
