import numpy as np
import pytest
from matplotlib.colors import to_hex

from regard.errors import DataError
from regard.plots.colours import INK, MUTED, weight_colour
from regard.plots.figures.words import draw_pooling, leading_labels, pooling_scale_end
from regard.tasks.classify.result import Classification


def classified(*texts, label="good", probabilities=None, weights=True, seed=0):
    rng = np.random.default_rng(seed)
    tokens = tuple((*text.split(), "</s>") for text in texts)
    alpha = tuple(rng.dirichlet(np.ones(len(sentence))) for sentence in tokens)
    return Classification(
        texts,
        label,
        probabilities or {"bad": 0.25, "good": 0.75},
        tokens,
        tuple((*range(len(sentence) - 1), None) for sentence in tokens),
        alpha if weights else None,
    )


def text_of(figure, word):
    return next(text for text in figure.axes[0].texts if text.get_text() == word)


def test_colours_have_one_scale_in_the_whole_figure():
    sheet = [classified("a fine film", seed=1), classified("dull", seed=2)]
    end = pooling_scale_end(sheet)
    assert end == pytest.approx(np.ceil(10 * max(w.max() for one in sheet for w in one.word_alpha)) / 10)
    axes = draw_pooling(sheet).axes[0]
    drawn = {to_hex(patch.get_facecolor()) for patch in axes.patches}
    for one in sheet:
        for weight in one.word_alpha[0]:
            assert weight_colour(weight / end) in drawn
    assert f"{end:g}" in [text.get_text() for text in axes.texts]


def test_without_weights_there_are_no_colours_and_no_scale():
    plain = classified("a fine film", weights=False)
    assert pooling_scale_end([plain]) is None
    axes = draw_pooling([plain]).axes[0]
    assert not axes.images
    assert "film" in [text.get_text() for text in axes.texts]


def test_the_chosen_label_is_bold_and_its_bar_as_long_as_it_is_probable():
    figure = draw_pooling([classified("a fine film")])
    chosen, other = text_of(figure, "good"), text_of(figure, "bad")
    assert (chosen.get_weight(), chosen.get_color()) == ("bold", INK)
    assert (other.get_weight(), other.get_color()) == ("normal", MUTED)
    lengths = {
        to_hex(patch.get_facecolor()): patch.get_width()
        for patch in figure.axes[0].patches
        if to_hex(patch.get_facecolor()) in (INK, MUTED)
    }
    assert lengths[INK] == pytest.approx(3 * lengths[MUTED])
    assert text_of(figure, "75 %").get_weight() == "bold"


def test_of_many_labels_the_most_probable_are_shown_in_their_order():
    chances = dict(zip("abcdefg", (0.02, 0.2, 0.03, 0.3, 0.05, 0.3, 0.1), strict=True))
    assert leading_labels(classified("x", label="d", probabilities=chances)) == (
        ("b", 0.2),
        ("d", 0.3),
        ("f", 0.3),
        ("g", 0.1),
    )
    # one that was chosen for another reason than its probability stays
    assert ("a", 0.02) in leading_labels(classified("x", label="a", probabilities=chances))


@pytest.mark.parametrize(
    "texts",
    [
        ("dull",),
        ("a man sleeps on a bench", "nobody is awake"),
        ("one two three four " * 10,),
        ("図書館 で 本 を 読む",),
    ],
)
def test_nothing_touches_and_nothing_is_cut_off(texts, well_set):
    well_set(draw_pooling([classified(*texts), classified("short")], title="A title"))
    well_set(
        draw_pooling([classified(*texts)], title="A title that is far longer than all of the words below it")
    )


def test_right_to_left_text_starts_at_the_right():
    figure = draw_pooling([classified("الرجل يقرأ كتابا")])
    places = [text_of(figure, word).get_position()[0] for word in ["الرجل", "يقرأ", "كتابا"]]
    assert places == sorted(places, reverse=True)


def test_nothing_to_draw():
    with pytest.raises(DataError, match="at least one"):
        draw_pooling([])
