import numpy as np
import pytest
from matplotlib.colors import to_hex

from regard.evaluation import ClassScores
from regard.plots.colours import weight_colour
from regard.plots.figures.confusion import draw_confusion, row_shares

SMALL = ClassScores(("bad", "good", "never"), ((3, 1, 0), (2, 1234, 0), (0, 0, 0)))


def test_shares_are_of_rows():
    np.testing.assert_allclose(row_shares(SMALL), [[0.75, 0.25, 0], [2 / 1236, 1234 / 1236, 0], [0, 0, 0]])


def test_gold_runs_down_and_predicted_across():
    axes = draw_confusion(SMALL).axes[0]
    place = {text.get_text(): text.get_position() for text in reversed(axes.texts)}  # the legend's are last
    assert place["3"][0] < place["1"][0]  # predicted bad, predicted good
    assert place["3"][1] == place["1"][1]  # both gold bad
    assert place["2"][0] == pytest.approx(place["3"][0])
    assert place["1,234"] == pytest.approx((place["1"][0], place["2"][1]))


def test_each_cell_has_the_colour_of_its_share():
    axes = draw_confusion(SMALL).axes[0]
    cells = [to_hex(patch.get_facecolor()) for patch in axes.patches if patch.get_fill()]
    assert cells == [weight_colour(share) for share in row_shares(SMALL).ravel()]


def test_recall_is_at_the_right_and_precision_below():
    drawn = draw_confusion(SMALL, title="Films").axes[0].texts
    texts = [text.get_text() for text in drawn]
    place = {text.get_text(): text.get_position() for text in drawn}
    assert place["75 %"][0] == place["recall"][0]
    assert place["60 %"][1] == place["precision"][1]
    assert texts[0] == "Films"
    assert texts.count("75 %") == 1  # the recall of bad
    assert texts.count("60 %") == 1  # its precision
    assert texts.count("0 %") == 2  # neither of never


@pytest.mark.parametrize(
    ("labels", "count"),
    [
        (("a",), 0),
        (("a",), 1_234_567),
        (("negative", "positive"), 3),
        (("是", "否"), 1_234_567),
        (tuple(f"TAG{k}" for k in range(12)), 12_345),
    ],
)
def test_nothing_touches_and_nothing_is_cut_off(labels, count, well_set):
    matrix = np.full((len(labels), len(labels)), count)
    well_set(draw_confusion(ClassScores(labels, tuple(map(tuple, matrix.tolist()))), title="A title"))
