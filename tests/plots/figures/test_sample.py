import pytest
from matplotlib.colors import to_hex

from regard.plots.colours import ACCENT, HIGHLIGHT, INK, MUTED
from regard.plots.figures.sample import differs_from_model, draw_sample
from regard.plots.text import percent
from regard.tasks.language_model.result import Candidate, Sample, SampleStep


def sampled(words, prompt="", tempered=True):
    steps = []
    for word in words:
        others = [
            Candidate("other", 0.3, 0.25 if tempered else 0.3),
            Candidate("rare", 0.05, 0.0 if tempered else 0.05),
        ]
        steps.append(SampleStep(Candidate(word, 0.5, 0.75 if tempered else 0.5), tuple(others)))
    return Sample(" ".join((prompt, *words)), prompt, tuple(words), (-0.69,) * len(words), tuple(steps))


def bars(figure, colour):
    return [patch for patch in figure.axes[0].patches if to_hex(patch.get_facecolor()) == colour]


def test_bars_are_sampling_probabilities_and_ticks_the_models():
    figure = draw_sample(sampled(["gardener"]))
    (chosen,), (other, rare) = bars(figure, HIGHLIGHT), bars(figure, ACCENT)
    assert chosen.get_width() == pytest.approx(3 * other.get_width())
    assert rare.get_width() == 0
    whole = chosen.get_width() / 0.75
    strokes = [
        (patch.get_x() + patch.get_width() / 2 - chosen.get_x()) / whole for patch in bars(figure, INK)
    ]
    assert strokes == pytest.approx([0.5, 0.3, 0.05])


def test_without_a_difference_there_are_no_ticks():
    assert not differs_from_model(sampled(["a"], tempered=False).steps)
    assert differs_from_model(sampled(["a"]).steps)
    figure = draw_sample(sampled(["a"], tempered=False))
    assert not bars(figure, INK)
    assert not any("model" in text.get_text() for text in figure.axes[0].texts)
    assert any("model" in text.get_text() for text in draw_sample(sampled(["a"])).axes[0].texts)


def test_the_sampled_token_is_bold_and_truncated_ones_are_grey():
    style = {text.get_text(): text for text in draw_sample(sampled(["a"])).axes[0].texts[1:]}
    assert (style["a"].get_weight(), style["a"].get_color()) == ("bold", HIGHLIGHT)
    assert (style["other"].get_weight(), style["other"].get_color()) == ("normal", INK)
    assert style["rare"].get_color() == MUTED


def test_the_sentence_reads_along_the_top():
    words = ["two", "herons", "fly"]
    axes = draw_sample(sampled(words, "see")).axes[0]
    along = {text.get_text(): text.get_position() for text in axes.texts if text.get_weight() == "bold"}
    heads = [text for text in axes.texts if text.get_weight() == "bold" and text.get_color() == INK]
    assert [text.get_text() for text in heads] == words
    assert len({text.get_position()[1] for text in heads}) == 1
    assert [text.get_position()[0] for text in heads] == sorted(text.get_position()[0] for text in heads)
    assert along["two"][1] > next(text for text in axes.texts if text.get_text() == "see").get_position()[1]


@pytest.mark.parametrize(
    ("words", "prompt"),
    [
        (["Hello"], ""),
        (["one", "</s>"], "a prompt of many words " * 12),
        (["wording", "x" * 60] * 20, "the"),
        (["図書館", "で"], "私 は"),
        ([], "only a prompt"),
    ],
)
def test_nothing_touches_and_nothing_is_cut_off(words, prompt, well_set):
    figure = draw_sample(sampled(words, prompt), title="A title")
    assert figure.get_size_inches()[0] < 10
    well_set(figure)


def test_right_to_left_text_starts_at_the_right():
    words = ["الرجل", "يقرأ", "كتابا"]
    heads = [
        text for text in draw_sample(sampled(words)).axes[0].texts
        if text.get_weight() == "bold" and text.get_color() == INK
    ]  # fmt: skip
    places = [text.get_position()[0] for text in heads]
    assert places == sorted(places, reverse=True)


def test_the_number_of_candidates_is_limited():
    texts = [text.get_text() for text in draw_sample(sampled(["a"]), most=2).axes[0].texts]
    assert "other" in texts
    assert "rare" not in texts


@pytest.mark.parametrize(
    ("probability", "written"),
    [
        (1.0, "100"),
        (0.624, "62"),
        (0.0996, "10"),
        (0.0994, "9.9"),
        (0.041, "4.1"),
        (0.0004, "0.0"),
        (0.0, "0"),
    ],
)
def test_probabilities_in_two_digits(probability, written):
    assert percent(probability) == written
