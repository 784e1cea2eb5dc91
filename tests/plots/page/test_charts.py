import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.plots.page.charts import HEIGHT, WIDTH, Line, line_chart, logged, ticks


@given(st.floats(1e-6, 1e7))
def test_ticks_reach_the_highest_in_few_even_steps(highest):
    found = ticks(highest)
    step = found[1]
    assert found[0] == 0
    assert found[-1] >= highest * (1 - 1e-6)
    assert found[-2] < highest
    assert 2 <= len(found) <= 6
    assert found == pytest.approx([k * step for k in range(len(found))])


@given(st.floats(1e-3, 1e7))
def test_ticks_inside_never_pass_the_highest(highest):
    found = ticks(highest, inside=True)
    assert 3 <= len(found) <= 6
    assert found[-1] <= highest * (1 + 1e-6)


def places(chart):
    (points,) = re.findall('<polyline class="curve first" points="(.*?)"', chart)
    return [tuple(map(float, point.split(","))) for point in points.split()]


def test_points_are_at_their_coordinates():
    curve = Line("loss", "first", [(0, 0), (50, 5), (100, 10)])
    chart = line_chart("Loss", [curve], x_label="updates", y_label="nats")
    (x0, y0), (x1, y1), (x2, y2) = places(chart)
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.11)
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.11)
    assert x0 < x2
    assert y2 < y0
    assert chart.count('class="mark first"') == 3
    assert "<title>loss: 10</title>" in chart
    chart = line_chart(
        "Loss", [Line("loss", "first", [(0, 0), (110, 10)])], x_label="updates", y_label="nats"
    )
    assert ">100</text>" in chart
    assert ">125</text>" not in chart  # no name beyond the end of the axis


@given(st.lists(st.tuples(st.floats(0, 1e5), st.floats(0, 1e4)), min_size=1, max_size=20))
def test_all_stays_inside_the_drawing(points):
    chart = line_chart("t", [Line("c", "first", sorted(points))], x_label="x", y_label="y")
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in places(chart))


def test_a_long_curve_is_thinned_and_keeps_its_end():
    curve = Line("loss", "quiet", [(k, k % 7) for k in range(10_001)])
    chart = line_chart("Loss", [curve], x_label="updates", y_label="nats")
    (points,) = re.findall('points="(.*?)"', chart)
    assert len(points.split()) <= 302
    assert points.split()[-1].startswith("430.0,")
    assert "mark" not in chart


def test_names_and_bars():
    chart = line_chart(
        "By length", [Line("BLEU", "first", [(0, 90), (1, 80)])], x_label="words", y_label="0 to 100",
        x_names=["1–5", "6–10"], bars=[1200, 30], top=100,
    )  # fmt: skip
    for text in ("1–5", "6–10", "1,200", "30", "words"):
        assert f">{text}</text>" in chart
    heights = [float(h) for h in re.findall('class="bar".*? height="(.*?)"', chart)]
    assert heights[0] / heights[1] == pytest.approx(40, rel=0.05)
    (x0, _), (x1, _) = places(chart)
    assert f'x="{x0}"' in chart  # the name is below its point
    assert f'x="{x1}"' in chart


def test_a_flat_zero_can_be_drawn():
    assert "polyline" in line_chart("t", [Line("c", "second", [(0, 0)])], x_label="x", y_label="y")


ROWS = [
    {"event": "train", "update": 1, "loss": 3.0},
    {"event": "validation", "update": 1, "loss": 2.5, "exact_match": 0.25},
    {"event": "train", "update": 2, "loss": float("nan")},
    {"event": "train", "update": 3},
    {"event": "train", "update": 4, "loss": None},
    {"event": "train", "loss": 9.0},
    {"event": "end", "update": 5, "loss": 1.0},
    {"event": "train", "update": 6, "loss": 1},
]


def test_collects_the_numbers_of_one_event():
    assert logged(ROWS, "train", "loss") == [(1.0, 3.0), (6.0, 1.0)]


def test_scales():
    assert logged(ROWS, "validation", "exact_match", scale=100) == [(1.0, 25.0)]


def test_what_was_never_logged_has_no_points():
    assert logged(ROWS, "validation", "bleu") == []
