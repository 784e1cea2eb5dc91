import pytest

from regard.plots.figures.lookup import draw_lookup, draw_projections, draw_similarities


def written(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_the_sum_at_the_foot_is_of_the_shares():
    figure = draw_lookup(
        ["a", "b"], 0, [1, 2], [[1, 0], [0, 1]], [[4, -8], [8, 0]], [-0.00001, 2], [0, 0], [0.25, 0.75]
    )
    shown = written(figure)
    assert shown[-2:] == ["7.00", "−2.00"]
    assert {"1.00", "−2.00", "6.00", "0.00"} <= set(shown)
    assert "0.0000" in shown  # qᵀk of −0.00001, without a sign
    assert shown.count("2.00") >= 2  # q, and the sum of the powers exp 0 + exp 0
    assert "sum: the new vector of “a”" in shown


def test_each_matrix_stands_over_what_it_makes():
    matrices = {"W_Q": [[1, 0]], "W_K": [[0, 1]], "W_V": [[0.5, 0.5]]}
    shown = written(draw_projections(["a"], 0, [[3, 4]], matrices, ([[3]], [[4]], [[3.5]])))
    assert {"W_Q", "W_K", "W_V", "W_Q xᵢ", "W_K xᵢ", "W_V xᵢ", "1 × 2", "3.0", "3.50"} <= set(shown)
    with pytest.raises(ValueError, match="zip"):
        draw_projections(["a"], 0, [[3, 4]], matrices, ([[3]],))


def test_every_similarity_has_its_formula_and_its_weights():
    kinds = {("dot", "qᵀk"): ([0.5], [1.0]), ("general", "qᵀWk"): ([-1.25], [1.0])}
    shown = written(draw_similarities(["a"], 0, {"W": [[2.0]]}, kinds))
    assert {"dot", "qᵀk", "general", "qᵀWk", "0.50", "−1.25", "W", "2.0"} <= set(shown)
    assert shown.count("1.00") == 4
