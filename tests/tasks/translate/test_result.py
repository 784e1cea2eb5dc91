import json

import numpy as np
import pytest

from regard.errors import DataError
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
    )


def test_shown_are_words_or_the_tokens_of_one_or_two():
    many = make()
    assert many.shown_alpha is many.word_alpha
    assert date().shown_alpha.target_labels == ("0", "5", "-", "0", "1", "</s>")
    np.testing.assert_array_equal(date().shown_alpha.alpha, np.eye(6))
    assert make(alpha=None).shown_alpha is None
    assert date().plot().axes[0].images[0].get_array().shape == (6, 6)
    assert date().plot(words=True).axes[0].images[0].get_array().shape == (2, 3)


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
        "source_words", "target_words", "links", "alpha", "alternatives",
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
