"""Charts of curves: what is drawn is what was given, on its scale; what cannot be is refused."""

import math

import numpy as np
import pytest
from matplotlib.colors import to_hex

from regard.errors import DataError
from regard.plots import save
from regard.plots.figures.canvas import LOOKS
from regard.plots.figures.curves import Curve, Mark, Panel, draw_curves


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


def test_axes_are_labelled_and_the_title_stands_above():
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


def test_ranges_are_kept():
    axes = draw_curves([panel(Curve("a", [1, 4], [1, 9]), x_range=(0, 8), y_range=(-1, 20))]).axes[0]
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, 8), (-1, 20))


@pytest.mark.parametrize("missing", [math.nan, math.inf, -math.inf])
def test_the_line_is_broken_at_what_is_not_finite(missing):
    (line,) = drawn(draw_curves([panel(Curve("a", [1, 2, 3], [5.0, missing, 7.0]))]).axes[0])
    assert np.array_equal(line.get_ydata(), [5.0, math.nan, 7.0], equal_nan=True)


def test_a_name_stands_at_the_last_finite_point_and_nowhere_without_one():
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
    assert to_hex(band.get_facecolor()[0]) == LOOKS[0].colour


def test_a_curve_looks_alike_in_all_panels():
    one, two = Curve("one", [0, 1], [0, 1]), Curve("two", [0, 1], [1, 0])
    figure = draw_curves([panel(one, two), panel(two)])
    (_, left), (right,) = (drawn(axes) for axes in figure.axes)
    assert left.get_color() == right.get_color() == LOOKS[1].colour
    assert left.get_marker() == right.get_marker() == LOOKS[1].mark


def test_many_points_have_no_marks():
    few, many = Curve("few", range(25), range(25)), Curve("many", range(26), range(26))
    first, second = drawn(draw_curves([panel(few, many)]).axes[0])
    assert first.get_marker() == "o"
    assert second.get_marker() in ("", "None")


def test_marks_cross_the_panel_with_their_words():
    marks = [Mark(2.0, "trained to here"), Mark(50.0, "chance", axis="y")]
    axes = draw_curves([panel(Curve("a", [1, 4], [10, 90]), marks=marks)]).axes[0]
    across = [line for line in axes.lines if line.get_zorder() == 1]
    assert list(across[0].get_xdata()) == [2.0, 2.0]
    assert list(across[1].get_ydata()) == [50.0, 50.0]
    assert {"trained to here", "chance"} <= {text.get_text() for text in axes.texts}


@pytest.mark.parametrize(
    ("first", "last", "side"), [(50, 90, "right"), (90, 50, "left"), (50, 50, "left"), (90, 10, "left")]
)
def test_words_along_a_height_give_way_to_a_curve_that_begins_there(first, last, side):
    curves = [Curve("a", [1, 4], [first, last]), Curve("lost", [1, 4], [math.nan, math.nan])]
    chart = panel(*curves, marks=[Mark(49.0, "chance", axis="y")], y_range=(0, 100))
    (words,) = (text for text in draw_curves([chart]).axes[0].texts if text.get_text() == "chance")
    assert words.get_ha() == side
    assert words.xy == (0 if side == "left" else 1, 49.0)


def test_panels_stand_row_by_row_at_one_size():
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


def test_one_panel_names_the_ends_and_several_share_a_key():
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
        DataError, match=r"curve 'bent': . places, . values and spreads of .*; give one of each"
    ):
        draw_curves([panel(Curve("fine", [1], [1]), curve)])


@pytest.mark.parametrize("panels", [[], [Panel([], "x", "y")]])
def test_nothing_to_draw_is_refused(panels):
    with pytest.raises(DataError, match="at least one curve; give it some"):
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
