import pytest
from matplotlib.colors import to_hex

from regard.errors import DataError
from regard.plots.colours import weight_colour
from regard.plots.figures.worked_example import (
    Block,
    NumberTable,
    draw_attention_steps,
    draw_number_tables,
    draw_projections,
    draw_similarities,
)

VECTOR = Block("k", [["1.00", "−2.50"], ["0.25", "4.00"]], "key")
WEIGHT = Block("a", [["0.20"], ["0.80"]], foot=["1.00"], weights=[0.2, 0.8], sign="→")


def texts(figure):
    return {text.get_text(): text for text in figure.axes[0].texts}


def test_numbers_of_a_row_share_a_line_and_of_a_column_are_aligned():
    written = texts(draw_number_tables([NumberTable(["one", "two"], [VECTOR, WEIGHT], chosen=1, foot="Σ")]))
    place = {name: text.get_position() for name, text in written.items()}
    for name, *cells in (("one", "1.00", "−2.50", "0.20"), ("two", "0.25", "4.00", "0.80")):
        assert all(place[cell][1] == place[name][1] for cell in cells if cell != "1.00")
    assert place["−2.50"][0] == place["4.00"][0] < place["0.20"][0] == place["0.80"][0]
    assert place["k"][1] < place["key"][1] < place["one"][1] < place["two"][1] < place["Σ"][1]
    assert place["k"][0] < place["→"][0] < place["a"][0]
    assert (written["two"].get_weight(), written["4.00"].get_weight()) == ("bold", "bold")
    assert (written["one"].get_weight(), written["−2.50"].get_weight()) == ("normal", "normal")


def test_weights_colour_their_background():
    axes = draw_number_tables([NumberTable(["one", "two"], [VECTOR, WEIGHT])]).axes[0]
    assert {weight_colour(0.2), weight_colour(0.8)} <= {
        to_hex(patch.get_facecolor()) for patch in axes.patches
    }


def test_vectors_have_brackets_and_numbers_have_none():
    assert len(draw_number_tables([NumberTable(["one", "two"], [VECTOR])]).axes[0].lines) == 2
    assert not draw_number_tables([NumberTable(["one", "two"], [WEIGHT])]).axes[0].lines


def test_tables_are_apart():
    other = Block("q", [["3.00", "5.00"]])
    written = texts(
        draw_number_tables([NumberTable(["one", "two"], [VECTOR]), NumberTable(["three"], [other])])
    )
    at = {name: written[name].get_position()[1] for name in ("one", "two", "q", "three")}
    line = at["two"] - at["one"]
    assert at["three"] - at["q"] == pytest.approx(line)
    assert at["q"] - at["two"] > 2 * line


def test_nothing_is_cut_off():
    figure = draw_number_tables(
        [NumberTable(["one", "two"], [VECTOR, WEIGHT], foot="Σ"), NumberTable(["", ""], [VECTOR] * 3)]
    )
    width, height = figure.get_size_inches()
    renderer = figure.canvas.get_renderer()
    for text in figure.axes[0].texts:
        if text.get_text():
            box = text.get_window_extent(renderer)
            assert 0 <= box.x0 < box.x1 <= width * figure.dpi, text.get_text()
            assert 0 <= box.y0 < box.y1 <= height * figure.dpi, text.get_text()


def test_unequal_lengths_are_refused():
    with pytest.raises(DataError, match="at least one"):
        draw_number_tables([])
    with pytest.raises(DataError, match=r"block 'k': 2 rows of cells and 0 weights for 3 names"):
        draw_number_tables([NumberTable(["a", "b", "c"], [VECTOR])])
    with pytest.raises(DataError, match=r"block 'k': rows of \[1, 2\] numbers"):
        draw_number_tables([NumberTable(["a", "b"], [Block("k", [["1"], ["1", "2"]])])])
    with pytest.raises(DataError, match=r"2 rows of cells and 1 weights"):
        draw_number_tables([NumberTable(["a", "b"], [Block("k", [["1"], ["2"]], weights=[0.5])])])


def written(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_the_sum_in_the_last_row_is_of_the_products():
    figure = draw_attention_steps(
        ["a", "b"], 0, [1, 2], [[1, 0], [0, 1]], [[4, -8], [8, 0]], [-0.00001, 2], [0, 0], [0.25, 0.75]
    )
    shown = written(figure)
    assert shown[-2:] == ["7.00", "−2.00"]
    assert {"1.00", "−2.00", "6.00", "0.00"} <= set(shown)
    assert "0.0000" in shown  # qᵀk of −0.00001, without a sign
    assert shown.count("2.00") >= 2  # q, and the sum of the powers exp 0 + exp 0
    assert "sum: the new vector of “a”" in shown


def test_each_matrix_is_above_its_product():
    matrices = {"W_Q": [[1, 0]], "W_K": [[0, 1]], "W_V": [[0.5, 0.5]]}
    shown = written(draw_projections(["a"], 0, [[3, 4]], matrices, ([[3]], [[4]], [[3.5]])))
    assert {"W", "Q", "K", "V", " xᵢ", "1 × 2", "3.0", "3.50"} <= set(shown)
    assert [shown.count(text) for text in ("W", "Q", " xᵢ")] == [6, 2, 3]
    with pytest.raises(ValueError, match="zip"):
        draw_projections(["a"], 0, [[3, 4]], matrices, ([[3]],))


def test_a_subscript_is_smaller_below_the_line_and_beside_its_letter():
    letter, script = draw_number_tables([NumberTable(["a"], [Block("W_Q", [["1"]])])]).axes[0].texts[1:3]
    assert (letter.get_text(), script.get_text()) == ("W", "Q")
    assert script.get_size() < letter.get_size()
    assert script.get_position()[1] > letter.get_position()[1]
    renderer = letter.figure.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in (letter, script)]
    assert 0 <= boxes[1].x0 - boxes[0].x1 < 3
    assert "a_b" in written(draw_number_tables([NumberTable(["a"], [Block("a_b", [["1"]], scripts=False)])]))


def test_every_similarity_has_its_formula_and_its_weights():
    kinds = {("dot", "qᵀk"): ([0.5], [1.0]), ("general", "qᵀWk"): ([-1.25], [1.0])}
    shown = written(draw_similarities(["a"], 0, {"W": [[2.0]]}, kinds))
    assert {"dot", "qᵀk", "general", "qᵀWk", "0.50", "−1.25", "W", "2.0"} <= set(shown)
    assert shown.count("1.00") == 4
