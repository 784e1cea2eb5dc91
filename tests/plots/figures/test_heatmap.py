from itertools import pairwise

import numpy as np
import pytest

from regard.errors import DataError
from regard.plots.figures.canvas import save
from regard.plots.figures.heatmap import HeatMap, draw_heatmap, draw_heatmaps
from regard.text.links import GoldLinks


def even(rows, columns):
    return np.full((rows, columns), 1 / columns)


def words(number, word="word"):
    return [f"{word}{k}" for k in range(number)]


def test_the_key_runs_from_0_to_1():
    *_, key = draw_heatmap(even(1, 2), ["a", "b"], ["c"]).axes
    assert [text.get_text() for text in key.texts] == ["attention", "0", "1"]
    strip = key.images[0]
    shades = strip.to_rgba(strip.get_array())[0, [0, -1], :3]
    np.testing.assert_allclose(shades[0], 1)
    assert shades[1].max() < 0.15


def test_a_difference_has_a_key_of_its_own_beside_that_of_the_weights():
    maps = [HeatMap(even(1, 2), "ab", "c"), HeatMap(-even(1, 2), "ab", "c", signed=True)]
    *_, key = draw_heatmaps(maps).axes
    assert [text.get_text() for text in key.texts] == [
        "attention", "0", "1", "difference of attention", "−1", "1",
    ]  # fmt: skip
    left, right = sorted(key.images, key=lambda image: image.get_extent()[0])
    assert left.get_extent()[1] < right.get_extent()[0]


@pytest.mark.parametrize("columns", [1, 3, 30])
def test_the_key_is_below_the_map_and_inside_the_figure(columns):
    figure = draw_heatmap(even(2, columns), words(columns), words(2))
    figure.canvas.draw()
    grid, key = figure.axes
    boxes = [text.get_window_extent() for text in key.texts]
    assert all(box.y1 < grid.get_window_extent().y0 and box.y0 >= 0 for box in boxes)
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.x1 for box in boxes)


def test_labels_are_at_their_rows_and_columns():
    axes = draw_heatmap(even(2, 3), ["the", "black", "cat"], ["chat", "noir"]).axes[0]
    assert [(t.get_text(), t.get_position()[0]) for t in axes.get_xticklabels()] == [
        ("the", 0),
        ("black", 1),
        ("cat", 2),
    ]
    assert [(t.get_text(), t.get_position()[1]) for t in axes.get_yticklabels()] == [("chat", 0), ("noir", 1)]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first row on top


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 4), (3, 17), (60, 58)])
def test_cells_are_square_and_nothing_is_cut_off(rows, columns):
    figure = draw_heatmap(
        even(rows, columns), words(columns, "international"), words(rows, "weltweit"), title="A title " * 5
    )
    figure.canvas.draw()
    box = figure.axes[0].get_window_extent()
    assert box.width / columns == pytest.approx(box.height / rows, rel=1e-6)
    whole = figure.bbox
    tight = figure.get_tightbbox().transformed(figure.dpi_scale_trans)
    assert whole.x0 <= tight.x0
    assert whole.y0 <= tight.y0
    assert tight.x1 <= whole.x1
    assert tight.y1 <= whole.y1


@pytest.mark.parametrize("number", [3, 25, 60])
def test_words_of_neighbouring_rows_do_not_touch(number):
    figure = draw_heatmap(even(number, number), words(number), words(number))
    figure.canvas.draw()
    labels = figure.axes[0].get_yticklabels()
    boxes = [label.get_window_extent() for label in labels]
    assert all(upper.y0 >= lower.y1 for upper, lower in pairwise(boxes))
    assert labels[0].get_size() >= 7


def test_characters_are_upright_and_words_turned():
    source = ["日", "ɑ̃", "◌\N{COMBINING TILDE}", "in", "pos=V", "</s>"]
    labels = draw_heatmap(even(1, 6), source, ["a"]).axes[0].get_xticklabels()
    assert [label.get_rotation() for label in labels] == [0, 0, 0, 90, 90, 90]


def test_gold_links_are_boxes_in_their_cells():
    gold = GoldLinks(frozenset({(2, 0)}), frozenset({(0, 1), (9, 9)}))
    boxes = draw_heatmap(even(2, 3), words(3), words(2), gold=gold).axes[0].patches
    assert {(round(box.get_x() + 0.42, 6), round(box.get_y() + 0.42, 6)) for box in boxes} == {(2, 0), (0, 1)}
    assert all(box.get_width() == box.get_height() == pytest.approx(0.84) for box in boxes)
    solid = [box for box in boxes if box.get_linestyle() in ("-", "solid")]
    assert [(round(box.get_x() + 0.42), round(box.get_y() + 0.42)) for box in solid] == [(2, 0)]


def test_awkward_words_are_drawn_as_they_are(tmp_path):
    labels = ["$x^2$", "100%", "a_b", "", "\ue000", "\n", "x" * 60]
    figure = draw_heatmap(even(7, 7), labels, labels, title="$not maths$ \ue000")
    save(figure, tmp_path / "a.svg")
    written = (tmp_path / "a.svg").read_text()
    assert ">$x^2$</text>" in written
    assert ">$not maths$" in written
    assert "x" * 23 + "…" in written
    assert "x" * 24 not in written


def test_many_scripts_make_no_warnings(tmp_path):
    labels = ["私", "한국어", "हिन्दी", "العربية", "ไทย", "Ελλάς", "Русь"]
    save(draw_heatmap(even(7, 7), labels, labels), tmp_path / "a.png")


def test_several_maps_are_placed_row_by_row():
    maps = [HeatMap(even(2, 2 + k), words(2 + k), words(2), title=f"({k})") for k in range(5)]
    figure = draw_heatmaps(maps)
    drawn = figure.axes[:-1]  # the last has the key
    places = [axes.get_position() for axes in drawn]
    assert [len(axes.get_xticks()) for axes in drawn] == [2, 3, 4, 5, 6]
    assert places[0].x0 < places[1].x0 < places[2].x0
    assert places[3].y1 < places[0].y0
    assert [text.get_text() for text in figure.texts] == ["(0)", "(1)", "(2)", "(3)", "(4)"]
    for a, b in ((0, 1), (1, 2), (3, 4)):
        assert places[a].x1 < places[b].x0


def test_columns_can_be_chosen():
    figure = draw_heatmaps([HeatMap(even(2, 2), words(2), words(2))] * 3, columns=1)
    assert len({axes.get_position().y0 for axes in figure.axes[:-1]}) == 3


def test_no_maps_are_refused():
    with pytest.raises(DataError, match="at least one"):
        draw_heatmaps([])


def test_labels_must_fit():
    with pytest.raises(DataError, match=r"alpha has shape \(2, 3\), the labels \(2, 2\)"):
        draw_heatmap(even(2, 3), words(2), words(2))


def test_a_difference_is_blue_for_more_and_red_with_a_dash_for_less():
    figure = draw_heatmaps([HeatMap(np.array([[0.9, -0.9], [0.1, -0.1]]), "ab", "cd", signed=True)])
    axes, _ = figure.axes
    (image,) = axes.images
    more, less = image.to_rgba(np.array([[0.9, -0.9]]))[0, :, :3]
    assert more[2] > more[0]
    assert less[0] > less[2]
    assert [(text.get_text(), text.get_position()) for text in axes.texts] == [("−", (1, 0))]
