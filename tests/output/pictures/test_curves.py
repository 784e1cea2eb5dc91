import numpy as np
import pytest

from regard.errors import DataError
from regard.output.pictures.canvas import save
from regard.output.pictures.curves import quality_by_length, training_curves
from regard.output.quality import measure_by_length

TRAIN = [{"event": "train", "update": 100 * k, "loss": 5 / k, "rate": 0.001 * k} for k in range(1, 9)]
VALIDATION = [
    {
        "event": "validation", "update": 400 * k, "loss": 4 / k, "perplexity": np.exp(4 / k), "gap": 0.1 * k,
        "token_accuracy": 0.4 * k, "free_running_accuracy": 0.3 * k, "bleu": 30.0 * k, "chrf": 40.0 * k,
        "exact_match": 0.2 * k,
    }
    for k in (1, 2)
]  # fmt: skip


def drawn(figure):
    return {
        axes.get_title(loc="left"): {line.get_label(): line.get_ydata().tolist() for line in axes.get_lines()}
        for axes in figure.axes
        if axes.get_title(loc="left")
    }


def test_every_curve_is_in_its_panel():
    panels = drawn(training_curves([*TRAIN, *VALIDATION]))
    assert list(panels) == [
        "Loss, teacher-forced",
        "Quality, free-running",
        "Accuracy and its gap",
        "Learning rate",
    ]
    assert panels["Loss, teacher-forced"] == {
        "training": [5 / k for k in range(1, 9)],
        "validation": [4.0, 2.0],
    }
    assert panels["Quality, free-running"] == {
        "BLEU": [30, 60],
        "chrF": [40, 80],
        "exact match (%)": [20, 40],
    }
    assert panels["Accuracy and its gap"] == {"teacher-forced": [40, 80], "free-running": [30, 60]}


def test_axes_have_names_and_units():
    figure = training_curves([*TRAIN, *VALIDATION])
    panels = [axes for axes in figure.axes if axes.get_title(loc="left")]
    assert {axes.get_xlabel() for axes in panels} == {"updates"}
    assert [axes.get_ylabel() for axes in panels] == [
        "loss (nats per token)", "quality, 0 to 100", "token accuracy (%)", "learning rate",
    ]  # fmt: skip


def test_panels_without_numbers_are_left_out():
    assert list(drawn(training_curves(TRAIN))) == ["Loss, teacher-forced", "Learning rate"]
    assert list(drawn(training_curves(VALIDATION[:1]))) == [
        "Loss, teacher-forced", "Quality, free-running", "Accuracy and its gap",
    ]  # fmt: skip


def test_lines_differ_in_grey():
    for axes in training_curves([*TRAIN, *VALIDATION]).axes[:3]:
        looks = [(line.get_linestyle(), line.get_marker()) for line in axes.get_lines()]
        assert len(set(looks)) == len(looks)


def test_a_single_point_and_a_diverged_run_can_be_saved(tmp_path):
    save(training_curves(TRAIN[:1]), tmp_path / "one.png")
    save(
        training_curves([{"event": "train", "update": k, "loss": 10.0**k} for k in range(1, 6)]),
        tmp_path / "lost.png",
    )
    assert training_curves(TRAIN[:1]).axes[0].get_lines()[0].get_marker() == "o"


@pytest.mark.parametrize("rows", [[], [{"event": "start"}]])
def test_nothing_to_draw_is_said(rows):
    with pytest.raises(DataError, match=f"{len(rows)} journal rows without a number"):
        training_curves(rows)


def test_quality_by_length_shows_scores_and_counts():
    sources = [" ".join(["w"] * n) for n in (2, 3, 7, 12)]
    bands = measure_by_length(sources, ["a b c d", "e", "f", "g"], ["a b c d", "x", "f", "y"], with_ter=False)
    figure = quality_by_length(bands)
    axes, counts = figure.axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1–5", "6–10", "11–15"]
    bleu, exact = axes.get_lines()
    assert bleu.get_ydata().tolist() == [band.quality.bleu for band in bands]
    assert exact.get_ydata().tolist() == [50, 100, 0]
    assert [bar.get_height() for bar in counts.patches] == [2, 1, 1]
    assert [text.get_text() for text in counts.texts] == ["2", "1", "1"]
    assert axes.get_zorder() > counts.get_zorder()


def test_no_bands_are_refused():
    with pytest.raises(DataError, match="at least one band"):
        quality_by_length([])
