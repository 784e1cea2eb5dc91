"""Names of curves: pushed apart by as little as it takes; a key that fits its row."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.plots.figures.canvas import LOOKS, new_figure
from regard.plots.figures.curve_labels import End, key_height, name_ends, spread_out, write_key
from regard.plots.figures.lettering import families_for

PLACES = st.lists(st.floats(-100, 100), max_size=12).map(sorted)
STEPS = st.floats(0.01, 20)
ROUNDING = 1e-9  # places below 1,000, a dozen sums of them


@given(PLACES, STEPS)
def test_neighbours_are_a_step_apart_and_in_order(places, step):
    moved = spread_out(places, step)
    assert len(moved) == len(places)
    assert all(after - before >= step - ROUNDING for before, after in itertools.pairwise(moved))


@given(PLACES, STEPS)
def test_the_centre_stays(places, step):
    assert sum(spread_out(places, step)) == pytest.approx(sum(places), abs=1e-7)


@given(st.lists(st.floats(1.001, 50), min_size=1, max_size=12), STEPS)
def test_what_is_far_apart_is_left_alone(gaps, step):
    places = list(itertools.accumulate(gap * step for gap in gaps))
    assert spread_out(places, step) == places


@given(PLACES, STEPS)
def test_no_nearer_arrangement_is_to_be_found(places, step):
    """It is the least-squares answer: no group can be moved by a little and come nearer to where it wants to be."""
    moved = np.array(spread_out(places, step))
    wanted = np.array(places)
    for cut in range(1, len(places)):
        # a part above a gap wider than a step, or pressed against it, gains nothing by moving away
        assert (moved[cut:] - wanted[cut:]).sum() >= -1e-7
        assert (moved[:cut] - wanted[:cut]).sum() <= 1e-7


def test_by_hand():
    assert spread_out([], 1) == []
    assert spread_out([5], 1) == [5]
    assert spread_out([5, 5], 1) == [4.5, 5.5]
    assert spread_out([0, 5, 5.2, 9], 1) == pytest.approx([0, 4.6, 5.6, 9])
    # the pair at 2 pushes into the one at 1, and the three stand around their mean
    assert spread_out([1, 2, 2], 1) == pytest.approx([2 / 3, 5 / 3, 8 / 3])


def axes_of(height=2.0):
    return new_figure(5, height).add_axes((0.1, 0.1, 0.5, 0.8))


FAMILIES = families_for(["abc"])


def test_names_that_would_touch_are_led_to_by_a_stroke():
    axes = axes_of()
    axes.set(xlim=(0, 1), ylim=(0, 1))
    ends = [End("high", 1, 0.51), End("low", 1, 0.49), End("middle", 1, 0.5)]
    ends += [End("far", 1, 0.9), End("short", 0.5, 0.1)]
    name_ends(axes, ends, ["high", "low", "far", "short", "middle"], FAMILIES)
    places = {text.get_text(): text.get_position()[1] for text in axes.texts}
    assert places["low"] < 0.49 < 0.51 < places["high"]
    assert places["middle"] == pytest.approx(0.5)
    assert places["far"] == pytest.approx(0.9)
    assert places["short"] == pytest.approx(0.1)
    led = {line.get_color() for line in axes.lines}
    assert led == {LOOKS[0].colour, LOOKS[1].colour, LOOKS[3].colour}
    colours = {text.get_text(): text.get_color() for text in axes.texts}
    assert colours["far"] == LOOKS[2].colour


def test_an_end_outside_the_axes_is_named_at_their_edge():
    axes = axes_of()
    axes.set(xlim=(0, 1), ylim=(0, 1))
    name_ends(axes, [End("off", 1, 7.0)], ["off"], FAMILIES)
    assert axes.texts[0].get_position()[1] == pytest.approx(1)


@pytest.mark.parametrize("up", [0.0, 1.0])
def test_a_crowd_at_the_edge_stays_beside_the_axes(up):
    axes = axes_of()
    axes.set(xlim=(0, 1), ylim=(0, 1))
    name_ends(axes, [End(name, 1, up) for name in "abcdef"], list("abcdef"), FAMILIES)
    places = [text.get_position()[1] for text in axes.texts]
    assert min(places) == pytest.approx(-0.04) if up == 0 else max(places) == pytest.approx(1.04)
    steps = np.diff(places)
    assert steps == pytest.approx([steps[0]] * 5)
    assert steps[0] > 0.1


@pytest.mark.parametrize("height", [1.0, 4.0])
def test_names_keep_their_distance_in_inches_at_any_height(height):
    axes = axes_of(height)
    name_ends(axes, [End(name, 1, 0.5) for name in "abcd"], list("abcd"), FAMILIES)
    axes.figure.canvas.draw()
    boxes = sorted(text.get_window_extent().extents[1::2].tolist() for text in axes.texts)
    assert all(above[0] > below[1] for below, above in itertools.pairwise(boxes))


def test_the_key_takes_as_many_rows_as_its_names_need():
    labels = [f"a curve of some length, number {k}" for k in range(5)]
    rows = {
        room: round(key_height(labels, FAMILIES, room) / key_height(["a"], FAMILIES, room))
        for room in (1, 6, 99)
    }
    assert rows[99] == 1
    assert 1 < rows[6] < 5
    assert rows[1] == 5


def test_names_in_the_key_stand_in_order_and_apart():
    labels = [f"curve {k} {'x' * (3 * k)}" for k in range(7)]
    figure = new_figure(6, 3)
    write_key(figure, labels, FAMILIES, left=0.5, room=5)
    figure.canvas.draw()
    boxes = [text.get_window_extent().extents for text in figure.texts]
    assert [text.get_text() for text in figure.texts] == labels
    for before, after in itertools.pairwise(boxes):
        same_row = abs(before[1] - after[1]) < 5
        assert before[2] < after[0] if same_row else after[3] < before[3]
    assert max(box[2] for box in boxes) < 600
    samples = [(line.get_color(), line.get_marker()) for line in figure.lines or figure.artists]
    assert samples == [(style.colour, style.mark) for style in LOOKS[:7]]
