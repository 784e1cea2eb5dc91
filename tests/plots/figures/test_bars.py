"""Bars: as long as their values, which are written behind them; names and numbers that do not fit are refused."""

import numpy as np
import pytest

from regard.errors import DataError
from regard.plots import save
from regard.plots.figures.bars import Measure, draw_bars

NAMES = ["additive", "dot", "local"]


def test_bars_are_as_long_as_their_values_in_the_order_of_the_names():
    axes = draw_bars(NAMES, [Measure("BLEU", [30, 20.25, 10])]).axes[0]
    assert [bar.get_width() for bar in axes.patches] == [30, 20.25, 10]
    middles = [bar.get_y() + bar.get_height() / 2 for bar in axes.patches]
    tops = axes.transData.transform([(0, middle) for middle in middles])[:, 1]
    assert list(tops) == sorted(tops, reverse=True)
    assert [label.get_text() for label in axes.get_yticklabels()] == NAMES
    assert axes.get_xlim()[0] == 0
    assert axes.get_xlabel() == "BLEU"


def test_every_value_is_written_behind_its_bar_and_its_error_bar():
    measure = Measure("seconds", [1.0, 22.456, 3.0], spreads=[0.5, 2.0, 0.0], form="{:.2f} s")
    axes = draw_bars(NAMES, [measure]).axes[0]
    assert [text.get_text() for text in axes.texts] == ["1.00 s", "22.46 s", "3.00 s"]
    assert [text.xy for text in axes.texts] == [(1.5, 0), (24.456, 1), (3.0, 2)]
    (whiskers,) = (each for each in axes.collections)
    ends = [
        segment[:, 0] for segment in whiskers.get_segments() if len(segment) and np.isfinite(segment).all()
    ]
    assert np.array(ends) == pytest.approx(np.array([[0.5, 1.5], [20.456, 24.456]]))  # none without a spread
    for caps in axes.lines:
        assert np.isfinite(np.asarray(caps.get_xdata(), dtype=float)).sum() == 2


def test_without_spreads_there_are_no_error_bars():
    assert not draw_bars(NAMES, [Measure("BLEU", [1, 2, 3])]).axes[0].collections


def test_names_are_written_once_and_titles_above_each_panel():
    figure = draw_bars(
        NAMES,
        [Measure("BLEU", [1, 2, 3], title="higher is better"), Measure("AER", [3, 2, 1], ranging=(0, 9))],
    )
    left, right = figure.axes
    assert [label.get_text() for label in right.get_yticklabels()] == ["", "", ""]
    assert left.get_title(loc="left") == "higher is better"
    assert right.get_xlim() == (0, 9)
    assert left.get_position().x1 < right.get_position().x0
    assert left.get_ylim() == right.get_ylim()


@pytest.mark.parametrize(
    "measure",
    [Measure("AER", [1, 2]), Measure("AER", [1, 2, 3, 4]), Measure("AER", [1, 2, 3], spreads=[1, 2])],
)
def test_lengths_that_do_not_fit_are_refused_by_name(measure):
    with pytest.raises(DataError, match=r"bars of 'AER': . values.* for 3 names; give one per name"):
        draw_bars(NAMES, [Measure("BLEU", [1, 2, 3]), measure])


@pytest.mark.parametrize(("names", "measures"), [([], [Measure("BLEU", [])]), (NAMES, [])])
def test_nothing_to_draw_is_refused(names, measures):
    with pytest.raises(DataError, match="needs names and at least one measure"):
        draw_bars(names, measures)


def test_names_and_values_are_inside_the_picture(well_set):
    names = ["a name of a good many words, so to say", "b"]
    figure = draw_bars(
        names, [Measure("BLEU", [99.9, 0.1], spreads=[0.1, 0.0]), Measure("AER", [0.0, 100.0])]
    )
    well_set(figure)
    figure.canvas.draw()
    width, height = figure.bbox.extents[2:]
    for axes in figure.axes:
        for text in (*axes.get_yticklabels(), *axes.texts, axes.xaxis.label):
            left, low, right, high = text.get_window_extent().extents
            assert 0 <= left <= right <= width, text
            assert 0 <= low <= high <= height, text


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_equal_charts_are_equal_files(ending, tmp_path):
    for name in ("one", "other"):
        save(draw_bars(NAMES, [Measure("BLEU", [1, 2, 3], spreads=[1, 1, 1])]), tmp_path / f"{name}.{ending}")
    assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"other.{ending}").read_bytes()
