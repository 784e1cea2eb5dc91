from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex

from regard.errors import DataError
from regard.plots.colours import HIGHLIGHT, INK, weight_colour
from regard.plots.figures.canvas import save
from regard.plots.figures.words import draw_reading

FBI = ["The", "FBI", "is", "chasing", "a", "criminal", "on", "the", "run", "."]


def past(size, seed=0, itself=False):
    """Weights over what was read before, each row a distribution; the first row empty."""
    weights = np.tril(np.random.default_rng(seed).random((size, size)) ** 3, 0 if itself else -1)
    return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-12)


def rows(figure, size):
    """The words of each row as (text, x), in the order they were written."""
    texts = [text for text in figure.axes[0].texts if text.get_ha() == "center"]
    counts = np.cumsum(range(size + 1))
    return [texts[start:end] for start, end in pairwise(counts)]


def ground(figure, text):
    """The colour behind the middle of a word."""
    x, y = text.get_position()
    colour = "#ffffff"
    for patch in figure.axes[0].patches:
        box = patch.get_bbox()
        if box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1:
            colour = to_hex(patch.get_facecolor())
    return colour


def test_each_row_is_the_sentence_so_far_at_the_same_places():
    figure = draw_reading(FBI, past(10))
    drawn = rows(figure, 10)
    assert [[text.get_text() for text in row] for row in drawn] == [FBI[: k + 1] for k in range(10)]
    for row in drawn:
        assert [text.get_position()[0] for text in row] == pytest.approx(
            [text.get_position()[0] for text in drawn[-1][: len(row)]]
        )
    heights = [row[0].get_position()[1] for row in drawn]
    assert heights == sorted(heights)


@pytest.mark.parametrize("itself", [False, True])
def test_every_word_is_on_the_colour_of_its_weight(itself):
    alpha = past(10, itself=itself)
    figure = draw_reading(FBI, alpha)
    for t, row in enumerate(rows(figure, 10)):
        for j, text in enumerate(row):
            assert ground(figure, text) == weight_colour(alpha[t, j]), (t, j)


def test_the_newest_word_differs_in_colour_weight_and_underline():
    figure = draw_reading(FBI, past(10))
    lines = [patch for patch in figure.axes[0].patches if to_hex(patch.get_facecolor()) == HIGHLIGHT]
    assert len(lines) == 11  # a row each, and one in the legend
    for row, line in zip(rows(figure, 10), lines, strict=False):
        assert [text.get_weight() for text in row] == ["normal"] * (len(row) - 1) + ["bold"]
        assert [text.get_color() for text in row] == [INK] * (len(row) - 1) + [HIGHLIGHT]
        box = line.get_bbox()
        assert box.x0 < row[-1].get_position()[0] < box.x1
        assert box.y0 > row[-1].get_position()[1]


def test_on_a_dark_background_it_is_black():
    figure = draw_reading(["all"], np.ones((1, 1)))
    assert figure.axes[0].texts[1].get_color() == INK
    assert figure.axes[0].texts[1].get_weight() == "bold"


@pytest.mark.parametrize(
    "words",
    [["Hello"], FBI, ["international", "w", "x" * 60] * 4, ["a"] * 16, ["図書館", "で"] * 8],
)
def test_nothing_touches_and_nothing_is_cut_off(words, well_set):
    well_set(draw_reading(words, past(len(words)), title="A title of some length"))


def test_forty_words_are_wrapped_at_a_legible_size():
    words = [f"wording{k}" for k in range(40)]
    figure = draw_reading(words, past(40))
    assert figure.get_size_inches()[0] < 10.5
    last = rows(figure, 40)[-1]
    assert len({text.get_position()[1] for text in last}) > 1
    assert min(text.get_size() for text in last) >= 9
    first_of_all = [row[0].get_position()[1] for row in rows(figure, 40)]
    last_of_all = [row[-1].get_position()[1] for row in rows(figure, 40)]
    assert all(below > above for above, below in zip(last_of_all, first_of_all[1:], strict=False))


def test_right_to_left_text_starts_at_the_right_with_its_numbers(well_set):
    words = ["الرجل", "يقرأ", "كتابا"]
    figure = draw_reading(words, past(3))
    places = [text.get_position()[0] for text in rows(figure, 3)[-1]]
    assert places == sorted(places, reverse=True)
    number = next(text for text in figure.axes[0].texts if text.get_text() == "3")
    assert number.get_position()[0] > max(places)
    well_set(figure)


def test_awkward_words_and_scripts(tmp_path):
    labels = ["$x^2$", "", "\n", "\ue000", "हिन्दी", "ไทย", "한국어", "العربية"]
    save(draw_reading(labels, past(8)), tmp_path / "a.png")
    save(draw_reading(labels, past(8)), tmp_path / "a.svg")
    assert ">$x^2$</text>" in (tmp_path / "a.svg").read_text()


def test_labels_must_fit():
    with pytest.raises(DataError, match=r"reading: alpha has shape \(2, 3\), but there are 2 labels"):
        draw_reading(["a", "b"], np.zeros((2, 3)))
