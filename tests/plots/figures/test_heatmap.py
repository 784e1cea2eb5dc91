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


def test_black_is_nothing_and_white_is_all():
    for weights in ([0.0, 1.0], [0.25, 0.5]):
        image = draw_heatmap(np.array([weights]), ["a", "b"], ["c"]).axes[0].images[0]
        shades = image.to_rgba(image.get_array())[0, :, :3]
        np.testing.assert_allclose(shades, np.repeat(weights, 3).reshape(2, 3), atol=1 / 255)


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


def test_short_column_labels_are_horizontal_and_long_ones_turned():
    upright = draw_heatmap(even(1, 3), ["日", "本", "語"], ["a"]).axes[0].get_xticklabels()
    turned = draw_heatmap(even(1, 2), ["extraordinary", "a"], ["a"]).axes[0].get_xticklabels()
    assert {label.get_rotation() for label in upright} == {0}
    assert {label.get_rotation() for label in turned} == {90}


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
    places = [axes.get_position() for axes in figure.axes]
    assert [len(axes.get_xticks()) for axes in figure.axes] == [2, 3, 4, 5, 6]
    assert places[0].x0 < places[1].x0 < places[2].x0
    assert places[3].y1 < places[0].y0
    assert [text.get_text() for text in figure.texts] == ["(0)", "(1)", "(2)", "(3)", "(4)"]
    for a, b in ((0, 1), (1, 2), (3, 4)):
        assert places[a].x1 < places[b].x0


def test_columns_can_be_chosen():
    figure = draw_heatmaps([HeatMap(even(2, 2), words(2), words(2))] * 3, columns=1)
    assert len({axes.get_position().y0 for axes in figure.axes}) == 3


def test_no_maps_are_refused():
    with pytest.raises(DataError, match="at least one"):
        draw_heatmaps([])


def test_labels_must_fit():
    with pytest.raises(DataError, match=r"alpha has shape \(2, 3\), the labels \(2, 2\)"):
        draw_heatmap(even(2, 3), words(2), words(2))


def test_a_difference_is_blue_for_more_and_red_with_a_dash_for_less():
    figure = draw_heatmaps([HeatMap(np.array([[0.9, -0.9], [0.1, -0.1]]), "ab", "cd", signed=True)])
    (axes,) = figure.axes
    (image,) = axes.images
    more, less = image.to_rgba(np.array([[0.9, -0.9]]))[0, :, :3]
    assert more[2] > more[0]
    assert less[0] > less[2]
    assert [(text.get_text(), text.get_position()) for text in axes.texts] == [("−", (1, 0))]
