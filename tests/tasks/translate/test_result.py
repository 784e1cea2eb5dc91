import json
from dataclasses import replace

import numpy as np
import pytest

from regard.errors import DataError
from regard.plots.page.comparison import ComparedSentence, ComparisonPage, render_comparison
from regard.plots.page.report import Report, ShownTranslation, render_report
from regard.tasks.translate.result import Translation


def make(**changes):
    """ "the black cats" → "les chats noirs", with cats and noirs in two pieces each."""
    fields = {
        "source": "the black cats",
        "text": "les chats noirs",
        "source_tokens": ("the", "black", "cat", "s", "</s>"),
        "tokens": ("les", "chats", "noir", "s", "</s>"),
        "score": -0.2,
        "log_prob": -1.0,
        "token_log_probs": (-0.1, -0.2, -0.3, -0.3, -0.1),
        "alpha": np.array(
            [
                [0.8, 0.0, 0.1, 0.1, 0.0],
                [0.0, 0.1, 0.5, 0.4, 0.0],
                [0.0, 0.9, 0.1, 0.0, 0.0],
                [0.0, 0.3, 0.2, 0.4, 0.1],
                [0.0, 0.0, 0.0, 0.0, 1.0],
            ],
            dtype=np.float32,
        ),
        "source_words": (0, 1, 2, 2, None),
        "target_words": (0, 1, 2, 2, None),
    }
    return Translation(**{**fields, **changes})


def test_links_are_between_words():
    assert make().links == {(0, 0), (2, 1), (1, 2)}


def test_word_alpha_has_the_words_beside_it():
    word_alpha = make().word_alpha
    assert word_alpha.source_labels == ("the", "black", "cats", "</s>")
    assert word_alpha.target_labels == ("les", "chats", "noirs", "</s>")
    np.testing.assert_allclose(word_alpha.alpha[2], [0.0, 0.6, 0.35, 0.05], atol=1e-6)
    np.testing.assert_allclose(word_alpha.alpha.sum(axis=1), 1.0, atol=1e-6)


def date():
    """A character model's one word: 1 May → 05-01."""
    source, target = ("1", "␣", "M", "a", "y", "</s>"), ("0", "5", "-", "0", "1", "</s>")
    return make(
        source="1 May",
        text="05-01",
        source_tokens=source,
        tokens=target,
        token_log_probs=(-0.1,) * 6,
        alpha=np.eye(6),
        source_words=(0, None, 1, 1, 1, None),
        target_words=(0, 0, 0, 0, 0, None),
        source_characters=True,
        target_characters=True,
    )


def test_characters_are_never_merged_and_subwords_are():
    many = make()
    assert many.shown_alpha is many.linked_alpha is many.word_alpha
    assert date().shown_alpha.target_labels == ("0", "5", "-", "0", "1", "</s>")
    np.testing.assert_array_equal(date().shown_alpha.alpha, np.eye(6))
    assert make(alpha=None).shown_alpha is make(alpha=None, source_characters=True).shown_alpha is None
    assert date().plot().axes[0].images[0].get_array().shape == (6, 6)
    assert date().plot(words=True).axes[0].images[0].get_array().shape == (2, 3)
    assert date().links == {(k, k) for k in range(5)}
    assert date().word_links == {(1, 0)}
    assert date().link_units == ("characters", "characters")


def phones():
    """A character model's word beside phones: chat, noun, → ʃ a."""
    return make(
        source="chat",
        text="ʃ a",
        features=("N",),
        source_tokens=("c", "h", "a", "t", "N", "</s>"),
        tokens=("ʃ", "a", "</s>"),
        token_log_probs=(-0.1,) * 3,
        alpha=np.array([[0.4, 0.5, 0.1, 0, 0, 0], [0, 0, 0.9, 0.1, 0, 0], [0, 0, 0, 0.2, 0.1, 0.7]]),
        source_words=(0, 0, 0, 0, 1, None),
        target_words=(0, 1, None),
        source_characters=True,
    )


def test_each_side_has_its_own_level():
    assert phones().shown_alpha.source_labels == ("c", "h", "a", "t", "N", "</s>")
    assert phones().shown_alpha.target_labels == ("ʃ", "a", "</s>")
    np.testing.assert_array_equal(phones().shown_alpha.alpha, phones().alpha)
    assert phones().links == {(1, 0), (2, 1)}
    assert phones().word_links == {(0, 0), (0, 1)}
    assert phones().to_json()["link_units"] == ["characters", "words"]


def test_every_picture_has_a_column_per_character():
    one, columns = phones(), 6
    assert one.plot().axes[0].images[0].get_array().shape[1] == columns
    assert one._repr_html_().count('scope="col"') == columns
    page = render_report(Report("t", "s", "c", {}, shown=[ShownTranslation(one.source_line, "ʃ a", one)]))
    assert page.count('scope="col"') == columns
    assert "attention 0" in page
    compared = ComparedSentence(
        1, one.source, "ʃ a", ([("ʃ", False)], [("s", True)]), (1.0, 0.0), (one.shown_alpha,) * 2
    )
    page = render_comparison(
        ComparisonPage(("a", "b"), 1, {}, {}, None, [compared], 1, "chrF", "legend", {}, "regard compare")
    )
    assert page.count('><span dir="auto">') == 2 * columns
    assert page.count("attention 0") == 1


def test_a_single_word_of_subwords_is_shown_by_its_pieces_and_linked_as_a_word():
    one = make(
        source="cats",
        source_tokens=("cat", "s", "</s>"),
        source_words=(0, 0, None),
        alpha=np.full((5, 3), 1 / 3),
    )
    assert one.shown_alpha.source_labels == ("cat", "s", "</s>")
    assert one.shown_alpha.target_labels == ("les", "chats", "noirs", "</s>")
    assert one.linked_alpha.source_labels == ("cats", "</s>")
    assert one.links == {(0, 0), (0, 1), (0, 2)}
    assert one.link_units == ("words", "words")


def test_prints_as_its_text():
    assert str(make()) == "les chats noirs"


def test_json_holds_everything():
    other = make(text="le chat noir", score=-0.9)
    written = make(alternatives=(other,)).to_json()
    assert json.loads(json.dumps(written, allow_nan=False)) == written
    assert written["links"] == [[0, 0], [2, 1], [1, 2]]
    assert written["alpha"][3] == [0.0, 0.3, 0.2, 0.4, 0.1]  # not float32's 0.30000001
    assert written["alternatives"] == [other.to_json()]
    assert set(written) == {
        "source", "text", "score", "log_prob", "source_tokens", "tokens", "token_log_probs",
        "source_words", "target_words", "links", "link_units", "alpha", "alternatives",
    }  # fmt: skip


def test_without_attention_there_are_no_links():
    plain = make(alpha=None)
    assert plain.links == frozenset()
    assert plain.word_alpha is None
    assert plain.to_json()["alpha"] is None
    assert plain.plot().axes == []


def test_a_blank_line_answers_everything():
    blank = Translation.blank("  ")
    assert (str(blank), blank.source, blank.tokens, blank.score) == ("", "  ", (), 0.0)
    assert blank.links == frozenset()
    assert blank.word_alpha is None
    assert blank.shown_alpha is None
    assert json.loads(json.dumps(blank.to_json())) == blank.to_json()
    assert blank.plot(words=False).axes == []


@pytest.mark.parametrize("words", [True, False, None])
def test_plot_draws_words_or_tokens(words, tmp_path):
    path = tmp_path / "attention.svg"
    figure = make().plot(path, words=words)
    drawn = figure.axes[0].images[0].get_array()
    expected = make().alpha if words is False else make().word_alpha.alpha
    np.testing.assert_array_equal(drawn, expected)
    assert (">noirs</text>" in path.read_text()) is (words is not False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"token_log_probs": (-0.1,)}, "1 token_log_probs for 5 tokens"),
        ({"target_words": (0, None)}, "2 target_words for 5 tokens"),
        ({"source_words": (0, 1, None)}, "3 source_words for 5 tokens"),
        ({"alpha": np.zeros((5, 4))}, r"'the black cats': alpha has shape \(5, 4\).*make \(5, 5\)"),
    ],
)
def test_lengths_must_agree(changes, message):
    with pytest.raises(DataError, match=message):
        make(**changes)


def test_a_notebook_shows_the_heat_map_between_words():
    page = make(text="les <b> noirs")._repr_html_()
    assert page.startswith("<div")
    assert 'class="map"' in page
    assert ">noirs<" in page
    assert "<b>" not in page


def test_a_notebook_shows_both_texts_where_there_is_no_attention():
    page = make(alpha=None)._repr_html_()
    assert ">the black cats<" in page
    assert ">les chats noirs<" in page


@pytest.mark.parametrize("alpha", [True, False])
@pytest.mark.parametrize("written", [make(), date(), phones(), make(alpha=None), Translation.blank(" ")])
def test_json_is_read_back_with_the_links(written, alpha):
    written = replace(written, alternatives=(make(text="other"),), features=())
    values = written.to_json(alpha=alpha)
    read = Translation.from_json(json.loads(json.dumps(values)))
    assert read.to_json(alpha=alpha) == values
    assert read.links == written.links
    assert (read.alpha is None) == (written.alpha is None or not alpha)
