import itertools
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex

from regard.errors import DataError
from regard.plots import save
from regard.plots.colours import LINE_STYLES
from regard.plots.figures.canvas import new_figure
from regard.plots.figures.curves import (
    Curve,
    CurveEnd,
    Mark,
    Panel,
    draw_curves,
    label_ends,
    legend_height,
    spread_out,
    write_legend,
)
from regard.plots.figures.fonts import families_for


def panel(*curves, **more):
    return Panel(curves, "words", "BLEU", **more)


def drawn(axes):
    """The curves of some axes, without the strokes that lead from their ends to their names."""
    return [line for line in axes.lines if line.get_transform() == axes.transData and line.get_zorder() == 3]


def test_points_are_where_they_were_given():
    figure = draw_curves([panel(Curve("a", [1, 2, 4], [3, 1, 2]), Curve("b", [2, 3], [5, 6]))])
    first, second = drawn(figure.axes[0])
    assert np.array_equal(first.get_xydata(), [[1, 3], [2, 1], [4, 2]])
    assert np.array_equal(second.get_xydata(), [[2, 5], [3, 6]])


def test_axes_are_labelled_and_the_title_is_above():
    axes = draw_curves([panel(Curve("a", [0, 1], [0, 1]), title="Long sentences")]).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("words", "BLEU")
    assert axes.get_title(loc="left") == "Long sentences"


@pytest.mark.parametrize(("scale", "base"), [("log", 10), ("log2", 2)])
def test_logarithmic_axes(scale, base):
    axes = draw_curves([panel(Curve("a", [1, 4, 16], [1, 10, 100]), x_scale=scale)]).axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    assert axes.xaxis.get_transform().base == base
    one, four, sixteen = axes.transData.transform([(1, 1), (4, 1), (16, 1)])[:, 0]
    assert four - one == pytest.approx(sixteen - four)
    axes = draw_curves([panel(Curve("a", [1, 4, 16], [1, 10, 100]), y_scale=scale)]).axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "log")


def test_doublings_are_written_as_plain_numbers():
    counts = [400, 800, 1600, 3200]
    axes = draw_curves([panel(Curve("a", counts, [1, 2, 3, 4]), x_scale="log2")]).axes[0]
    axes.figure.canvas.draw()
    assert [label.get_text() for label in axes.get_xticklabels()] == ["400", "800", "1,600", "3,200"]
    axes = draw_curves([panel(Curve("a", [1, 2, 3], [20, 60, 200]), y_scale="log2")]).axes[0]
    axes.figure.canvas.draw()
    assert {label.get_text() for label in axes.get_yticklabels()} >= {"32", "64", "128"}
    many = [2.0**k for k in range(-2, 8)]
    axes = draw_curves([panel(Curve("a", many, many), x_scale="log2")]).axes[0]
    axes.figure.canvas.draw()
    written = {label.get_text() for label in axes.get_xticklabels()}
    assert len(written) <= 14
    assert written >= {"0.25", "1", "64"} or written >= {"0.5", "2", "128"}


def test_ticks_of_narrow_panels_are_so_few_that_their_labels_do_not_touch():
    lengths = [2**k for k in range(3, 11)]
    narrow = [panel(Curve("a", lengths, lengths), x_scale="log2")] * 3
    axes = draw_curves(narrow).axes[0]
    axes.figure.canvas.draw()
    labels = axes.get_xticklabels()
    assert [label.get_text() for label in labels] == ["16", "64", "256", "1,024"]
    boxes = [label.get_window_extent() for label in labels]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


@pytest.mark.parametrize(("x", "whole"), [(list(range(1, 13)), True), ([1, 4.5, 12], False)])
def test_counts_have_whole_ticks(x, whole):
    axes = draw_curves([panel(Curve("a", x, x))] * 3).axes[0]
    axes.figure.canvas.draw()
    assert all(tick == round(tick) for tick in axes.get_xticks()) == whole


def test_ranges_are_kept():
    axes = draw_curves([panel(Curve("a", [1, 4], [1, 9]), x_range=(0, 8), y_range=(-1, 20))]).axes[0]
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, 8), (-1, 20))


@pytest.mark.parametrize("missing", [math.nan, math.inf, -math.inf])
def test_the_line_is_broken_at_what_is_not_finite(missing):
    (line,) = drawn(draw_curves([panel(Curve("a", [1, 2, 3], [5.0, missing, 7.0]))]).axes[0])
    assert np.array_equal(line.get_ydata(), [5.0, math.nan, 7.0], equal_nan=True)


def test_a_label_is_at_the_last_finite_point_and_nowhere_without_one():
    curves = [Curve("ends early", [1, 2, 3], [5, 6, math.nan]), Curve("never", [1, 2], [math.nan] * 2)]
    axes = draw_curves([panel(*curves, Curve("whole", [1, 3], [0, 1]), y_range=(0, 10))]).axes[0]
    heights = {text.get_text(): text.get_position()[1] for text in axes.texts}
    assert heights.pop("ends early") == pytest.approx(0.6)
    assert heights.pop("whole") == pytest.approx(0.1)
    assert not heights


def test_the_spread_is_a_band_between_its_edges():
    curve = Curve("a", [1, 2, 3], [5, 6, 7], low=[4, 5, 6], high=[6, 8, 9])
    (band,) = draw_curves([panel(curve, Curve("b", [1, 2], [1, 2]))]).axes[0].collections
    assert {tuple(corner) for corner in band.get_paths()[0].vertices} >= {
        (1, 4), (2, 5), (3, 6), (1, 6), (2, 8), (3, 9)
    }  # fmt: skip
    assert to_hex(band.get_facecolor()[0]) == LINE_STYLES[0].colour


def test_a_curve_looks_alike_in_all_panels():
    one, two = Curve("one", [0, 1], [0, 1]), Curve("two", [0, 1], [1, 0])
    figure = draw_curves([panel(one, two), panel(two)])
    (_, left), (right,) = (drawn(axes) for axes in figure.axes)
    assert left.get_color() == right.get_color() == LINE_STYLES[1].colour
    assert left.get_marker() == right.get_marker() == LINE_STYLES[1].marker


def test_many_points_have_no_marks():
    few, many = Curve("few", range(25), range(25)), Curve("many", range(26), range(26))
    first, second = drawn(draw_curves([panel(few, many)]).axes[0])
    assert first.get_marker() == "o"
    assert second.get_marker() in ("", "None")


def test_marks_cross_the_panel_with_their_labels():
    marks = [Mark(2.0, "trained to here"), Mark(50.0, "chance", axis="y")]
    axes = draw_curves([panel(Curve("a", [1, 4], [10, 90]), marks=marks)]).axes[0]
    across = [line for line in axes.lines if line.get_zorder() == 1]
    assert list(across[0].get_xdata()) == [2.0, 2.0]
    assert list(across[1].get_ydata()) == [50.0, 50.0]
    assert {"trained to here", "chance"} <= {text.get_text() for text in axes.texts}


@pytest.mark.parametrize(("at", "sides"), [(1.2, ["right", "left"]), (3.9, ["center", "center"])])
def test_the_labels_of_two_marks_do_not_meet(at, sides):
    marks = [Mark(at, "trained up to 30"), Mark(1.1, "trained up to 15")]
    axes = draw_curves([panel(Curve("a", [1, 4], [10, 90]), marks=marks)]).axes[0]
    by_label = {text.get_text(): text.get_ha() for text in axes.texts}
    assert [by_label[f"trained up to {longest}"] for longest in (15, 30)] == sides


@pytest.mark.parametrize(
    ("first", "last", "side", "above"),
    [(50, 90, "right", True), (90, 50, "left", True), (50, 50, "left", False), (90, 10, "left", True)],
)
def test_the_label_of_a_mark_gives_way_to_a_curve(first, last, side, above):
    curves = [Curve("a", [1, 4], [first, last]), Curve("lost", [1, 4], [math.nan, math.nan])]
    chart = panel(*curves, marks=[Mark(49.0, "chance", axis="y")], y_range=(0, 100))
    (words,) = (text for text in draw_curves([chart]).axes[0].texts if text.get_text() == "chance")
    assert words.get_ha() == side
    assert words.xy == (0 if side == "left" else 1, 49.0)
    assert words.get_va() == ("bottom" if above else "top")


def test_panels_are_row_by_row_at_one_size():
    figure = draw_curves([panel(Curve("a", [0, 1], [0, 1])) for _ in range(4)])
    places = [axes.get_position() for axes in figure.axes]
    assert [place.x0 for place in places[:3]] == sorted(place.x0 for place in places)[1:]
    assert places[3].x0 == pytest.approx(places[0].x0)
    assert places[3].y1 < places[0].y0
    assert len({(round(place.width, 9), round(place.height, 9)) for place in places}) == 1
    two = [
        axes.get_position() for axes in draw_curves([panel(Curve("a", [0, 1], [0, 1]))] * 4, columns=2).axes
    ]
    assert (two[2].x0, two[3].x0) == pytest.approx((two[0].x0, two[1].x0))


def test_one_panel_labels_the_ends_and_several_share_a_legend():
    curves = [Curve(name, [0, 1], [0, k]) for k, name in enumerate(("one", "two"))]
    alone = draw_curves([panel(*curves)])
    assert {text.get_text() for text in alone.axes[0].texts} == {"one", "two"}
    assert not alone.texts
    beside = draw_curves([panel(*curves), panel(curves[0])])
    assert [text.get_text() for text in beside.texts] == ["one", "two"]
    assert not any(axes.texts for axes in beside.axes)


@pytest.mark.parametrize(
    "curve",
    [
        Curve("bent", [1, 2], [1]),
        Curve("bent", [1], [1, 2]),
        Curve("bent", [1, 2], [1, 2], low=[1], high=[1, 2]),
        Curve("bent", [1, 2], [1, 2], low=[1, 2], high=[1, 2, 3]),
        Curve("bent", [1, 2], [1, 2], low=[1, 2]),
        Curve("bent", [1, 2], [1, 2], high=[1, 2]),
    ],
)
def test_unequal_lengths_are_refused_by_name(curve):
    with pytest.raises(
        DataError, match=r"curve 'bent': . x values, . y values and spreads of .*; give as many of each"
    ):
        draw_curves([panel(Curve("fine", [1], [1]), curve)])


@pytest.mark.parametrize("panels", [[], [Panel([], "x", "y")]])
def test_nothing_to_draw_is_refused(panels):
    with pytest.raises(DataError, match="at least one curve; pass one or more"):
        draw_curves(panels)


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_equal_charts_are_equal_files(ending, tmp_path):
    for name in ("one", "other"):
        chart = [panel(Curve("a $x$ & <b>", [1, 2], [1, 2], [0, 1], [2, 3]), marks=[Mark(1, "here")])]
        save(draw_curves(chart), tmp_path / f"{name}.{ending}")
    assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"other.{ending}").read_bytes()


def test_nothing_touches_and_nothing_is_cut_off(well_set):
    crowd = [Curve(f"the curve of number {k}", [0, 1], [0, 1 + k / 1000]) for k in range(9)]
    well_set(draw_curves([panel(*crowd)]))


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
def test_no_closer_arrangement_exists(places, step):
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
    # the pair at 2 pushes into the one at 1, and the three are spread around their mean
    assert spread_out([1, 2, 2], 1) == pytest.approx([2 / 3, 5 / 3, 8 / 3])


def axes_of(height=2.0):
    return new_figure(5, height).add_axes((0.1, 0.1, 0.5, 0.8))


FAMILIES = families_for(["abc"])


def test_labels_moved_apart_have_a_leader_line():
    axes = axes_of()
    axes.set(xlim=(0, 1), ylim=(0, 1))
    ends = [CurveEnd("high", 1, 0.51), CurveEnd("low", 1, 0.49), CurveEnd("middle", 1, 0.5)]
    ends += [CurveEnd("far", 1, 0.9), CurveEnd("short", 0.5, 0.1)]
    label_ends(axes, ends, ["high", "low", "far", "short", "middle"], FAMILIES)
    places = {text.get_text(): text.get_position()[1] for text in axes.texts}
    assert places["low"] < 0.49 < 0.51 < places["high"]
    assert places["middle"] == pytest.approx(0.5)
    assert places["far"] == pytest.approx(0.9)
    assert places["short"] == pytest.approx(0.1)
    led = {line.get_color() for line in axes.lines}
    assert led == {LINE_STYLES[0].colour, LINE_STYLES[1].colour, LINE_STYLES[3].colour}
    colours = {text.get_text(): text.get_color() for text in axes.texts}
    assert colours["far"] == LINE_STYLES[2].colour


def test_an_end_outside_the_axes_is_named_at_their_edge():
    axes = axes_of()
    axes.set(xlim=(0, 1), ylim=(0, 1))
    label_ends(axes, [CurveEnd("off", 1, 7.0)], ["off"], FAMILIES)
    assert axes.texts[0].get_position()[1] == pytest.approx(1)


@pytest.mark.parametrize("up", [0.0, 1.0])
def test_many_labels_at_the_edge_stay_beside_the_axes(up):
    axes = axes_of()
    axes.set(xlim=(0, 1), ylim=(0, 1))
    label_ends(axes, [CurveEnd(name, 1, up) for name in "abcdef"], list("abcdef"), FAMILIES)
    places = [text.get_position()[1] for text in axes.texts]
    assert min(places) == pytest.approx(-0.04) if up == 0 else max(places) == pytest.approx(1.04)
    steps = np.diff(places)
    assert steps == pytest.approx([steps[0]] * 5)
    assert steps[0] > 0.1


@pytest.mark.parametrize("height", [1.0, 4.0])
def test_names_keep_their_distance_in_inches_at_any_height(height):
    axes = axes_of(height)
    label_ends(axes, [CurveEnd(name, 1, 0.5) for name in "abcd"], list("abcd"), FAMILIES)
    axes.figure.canvas.draw()
    boxes = sorted(text.get_window_extent().extents[1::2].tolist() for text in axes.texts)
    assert all(above[0] > below[1] for below, above in itertools.pairwise(boxes))


def test_the_legend_takes_as_many_rows_as_its_labels_need():
    labels = [f"a curve of some length, number {k}" for k in range(5)]
    rows = {
        row_width: round(
            legend_height(labels, FAMILIES, row_width) / legend_height(["a"], FAMILIES, row_width)
        )
        for row_width in (1, 6, 99)
    }
    assert rows[99] == 1
    assert 1 < rows[6] < 5
    assert rows[1] == 5


def test_labels_of_the_legend_are_in_order_and_apart():
    labels = [f"curve {k} {'x' * (3 * k)}" for k in range(7)]
    figure = new_figure(6, 3)
    write_legend(figure, labels, FAMILIES, left=0.5, row_width=5)
    figure.canvas.draw()
    boxes = [text.get_window_extent().extents for text in figure.texts]
    assert [text.get_text() for text in figure.texts] == labels
    for before, after in itertools.pairwise(boxes):
        same_row = abs(before[1] - after[1]) < 5
        assert before[2] < after[0] if same_row else after[3] < before[3]
    assert max(box[2] for box in boxes) < 600
    samples = [(line.get_color(), line.get_marker()) for line in figure.lines or figure.artists]
    assert samples == [(style.colour, style.marker) for style in LINE_STYLES[:7]]
