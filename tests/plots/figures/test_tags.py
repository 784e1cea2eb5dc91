import pytest
from matplotlib.colors import to_hex

from regard.errors import DataError
from regard.plots.colours import INK, TAG_COLOURS, tag_colours
from regard.plots.figures.words import draw_tags
from regard.tasks.tag.result import Tagging

BIRDS = Tagging(("two", "grey", "herons", "fly"), ("NUM", "ADJ", "NOUN", "VERB"), (1.0, 0.5, 0.25, 0.8))


def test_each_tag_has_one_colour_in_all_sentences():
    other = Tagging(("fly",), ("NOUN",), (0.5,))
    colours = tag_colours([*BIRDS.tags, *other.tags])
    assert list(colours) == ["ADJ", "NOUN", "NUM", "VERB"]
    assert len(set(colours.values())) == 4
    drawn = [to_hex(patch.get_facecolor()) for patch in draw_tags([BIRDS, other]).axes[0].patches]
    assert drawn.count(colours["NOUN"]) == 2
    assert drawn.count(colours["VERB"]) == 1


def test_colours_repeat():
    many = Tagging(("w",) * 20, tuple(f"T{k:02}" for k in range(20)), (1.0,) * 20)
    assert tag_colours(many.tags)["T18"] == TAG_COLOURS[0]


def test_tags_are_below_their_words_and_bars_below_them():
    axes = draw_tags([BIRDS]).axes[0]
    places = {text.get_text(): text.get_position() for text in axes.texts}
    bars = [patch for patch in axes.patches if to_hex(patch.get_facecolor()) == INK]
    boxes = [patch for patch in axes.patches if to_hex(patch.get_facecolor()) in TAG_COLOURS]
    for word, tag, probability, bar, box in zip(
        BIRDS.words, BIRDS.tags, BIRDS.probabilities, bars, boxes, strict=True
    ):
        assert places[word][0] == places[tag][0] == pytest.approx(box.get_x() + box.get_width() / 2)
        assert places[word][1] < places[tag][1] < bar.get_y()
        assert bar.get_width() == pytest.approx(probability * box.get_width())
        assert bar.get_x() == box.get_x()


@pytest.mark.parametrize(
    "one",
    [
        Tagging(("Go",), ("VERB",), (0.8,)),
        Tagging(("a", "I") * 20, ("SCONJ", "PUNCT") * 20, (0.5,) * 40),
        Tagging(("図書館", "で"), ("NOUN", "ADP"), (0.5, 0.5)),
        Tagging(("x" * 60, "y"), ("T" * 60, "t"), (0.5, 0.5)),
    ],
)
def test_nothing_touches_and_nothing_is_cut_off(one, well_set):
    well_set(draw_tags([one, BIRDS], title="A title"))


def test_right_to_left_text_starts_at_the_right():
    words = ("الرجل", "يقرأ", "كتابا")
    axes = draw_tags([Tagging(words, ("NOUN", "VERB", "NOUN"), (1.0,) * 3)]).axes[0]
    places = {text.get_text(): text.get_position()[0] for text in axes.texts}
    assert places[words[0]] > places[words[1]] > places[words[2]]


def test_nothing_to_draw():
    with pytest.raises(DataError, match="at least one sentence"):
        draw_tags([])
