from dataclasses import replace

import pytest
from matplotlib.colors import to_hex

from regard.errors import DataError
from regard.plots.figures.shapes import _HIDDEN, Shape, draw_shapes

READ = Shape(
    "many to one", "words → label", ["a", "b", "c"], [None, None, "good"], False, 80, 50, "accuracy", "guess"
)
WRITE = Shape(
    "one to many", "thing → words", ["x", None], ["it", "is"], True, 25, 10, "BLEU", "nothing", "it was"
)


def squares(axes):
    return [
        p for p in axes.patches if to_hex(p.get_facecolor()) == _HIDDEN and p.get_width() == p.get_height()
    ]


def places(axes):
    return {text.get_text(): text.get_position() for text in axes.texts if text.get_text()}


def test_a_state_for_each_step_and_arrows_between():
    axes = draw_shapes([READ]).axes[0]
    assert len(squares(axes)) == 3
    # three words in, two steps, one label out
    assert sum(getattr(text, "arrow_patch", None) is not None for text in axes.texts) == 6


def test_outputs_are_fed_to_the_next_state():
    def arrows(shape):
        return sum(
            getattr(text, "arrow_patch", None) is not None for text in draw_shapes([shape]).axes[0].texts
        )

    assert arrows(WRITE) == arrows(replace(WRITE, fed=False)) + 1
    assert arrows(READ) == arrows(replace(READ, fed=True))  # nothing comes after the last output


def test_inputs_are_below_and_outputs_above_their_states():
    axes = draw_shapes([READ]).axes[0]
    at = places(axes)
    last = max(squares(axes), key=lambda square: square.get_x())
    middle = last.get_x() + last.get_width() / 2
    assert at["good"][0] == pytest.approx(middle)
    assert at["c"][0] == pytest.approx(middle)
    assert at["good"][1] < last.get_y() < at["c"][1]  # y runs downwards
    assert at["a"][0] < at["b"][0] < at["c"][0]


def test_the_bar_is_as_long_as_the_score_and_the_tick_is_at_the_baseline():
    axes = draw_shapes([READ]).axes[0]
    track, bar, notch = axes.patches[-3:]
    assert bar.get_width() == pytest.approx(0.8 * track.get_width())
    assert notch.get_x() + notch.get_width() / 2 - track.get_x() == pytest.approx(0.5 * track.get_width())
    assert {"accuracy 80.0", "guess: 50.0"} <= set(places(axes))
    assert not any("expected" in text for text in places(axes))


def test_the_expected_output_is_written_where_it_differs():
    assert "expected: it was" in places(draw_shapes([WRITE]).axes[0])


def test_nothing_is_cut_off_and_a_wide_page_is_broken():
    figure = draw_shapes(
        [WRITE, READ, replace(READ, title="wide", inputs=["long word"] * 8, outputs=["y"] * 8)]
    )
    at = places(figure.axes[0])
    assert at["one to many"][1] == at["many to one"][1] < at["wide"][1]
    assert at["one to many"][0] == at["wide"][0] < at["many to one"][0]
    width, height = figure.get_size_inches() * figure.dpi
    renderer = figure.canvas.get_renderer()
    for text in figure.axes[0].texts:
        if text.get_text():
            box = text.get_window_extent(renderer)
            assert 0 <= box.x0 < box.x1 <= width, text.get_text()
            assert 0 <= box.y0 < box.y1 <= height, text.get_text()


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(DataError, match="at least one"):
        draw_shapes([])
    with pytest.raises(DataError, match=r"'many to one': 3 inputs and 1 outputs"):
        draw_shapes([replace(READ, outputs=["good"])])
