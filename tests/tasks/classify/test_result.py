import json

import numpy as np
import pytest

from regard.errors import DataError
from regard.plots.colours import weight_colour
from regard.tasks.classify.result import Classification


def make(**changes):
    """A pair, its second sentence with a word in two pieces."""
    fields = {
        "texts": ("nobody sleeps", "someone is awake"),
        "label": "entailment",
        "probabilities": {"contradiction": 0.1, "entailment": 0.9},
        "tokens": (("nobody", "sleeps", "</s>"), ("someone", "is", "a", "wake", "</s>")),
        "words": ((0, 1, None), (0, 1, 2, 2, None)),
        "alpha": (
            np.array([0.3, 0.6, 0.1], dtype=np.float32),
            np.array([0.1, 0.1, 0.2, 0.5, 0.1], dtype=np.float32),
        ),
    }
    return Classification(**{**fields, **changes})


def test_the_weight_of_a_word_is_that_of_its_tokens_together():
    first, second = make().word_alpha
    np.testing.assert_allclose(first, [0.3, 0.6, 0.1], atol=1e-6)
    np.testing.assert_allclose(second, [0.1, 0.1, 0.7, 0.1], atol=1e-6)
    assert make().units[1].labels == ("someone", "is", "awake", "</s>")
    assert make(alpha=None).word_alpha is None


def test_prints_as_its_label():
    assert str(make()) == "entailment"
    assert make().probability == 0.9
    assert "p=0.9000" in repr(make())


def test_json_holds_everything_in_the_order_of_the_labels():
    written = make().to_json()
    assert json.loads(json.dumps(written, allow_nan=False)) == written
    assert list(written["probabilities"]) == ["contradiction", "entailment"]
    assert written["alpha"][0] == [0.3, 0.6, 0.1]
    assert set(written) == {"texts", "label", "probabilities", "tokens", "words", "alpha", "characters"}
    assert make(alpha=None).to_json()["alpha"] is None


def test_plot_writes_words_and_labels(tmp_path):
    path = tmp_path / "pooling.svg"
    make().plot(path, title="A pair")
    written = path.read_text()
    for text in ("A pair", "awake", "entailment", "90 %", "0.7"):
        assert f">{text}</text>" in written


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"texts": ()}, "classification of nothing"),
        ({"label": "entailmnt"}, "'entailmnt' is not a label; did you mean 'entailment'"),
        ({"tokens": (("a",),)}, "'nobody sleeps / someone is awake': tokens for 1 sentences of 2"),
        ({"alpha": (np.ones(3),)}, "alpha for 1 sentences of 2"),
        ({"alpha": (np.ones(3), np.ones(4))}, "4 weights for 5 tokens"),
        ({"words": ((0, 1, None), (0, None))}, "2 words for 5 tokens"),
    ],
)
def test_what_does_not_fit(changes, message):
    with pytest.raises(DataError, match=message):
        make(**changes)


def test_a_notebook_shows_words_on_their_weights_and_the_labels():
    page = make()._repr_html_()
    assert "entailment: 90 % · contradiction: 10 %" in page.replace("\N{NO-BREAK SPACE}", " ")
    darkest = weight_colour(1)
    assert f'style="background:{darkest}" title="0.70" dir="auto">awake<' in page, "the scale ends at 0.7"
    assert f'background:{darkest}"' not in make().html(1.0), "a scale for several ends later"
    assert ">awake<" in make(alpha=None)._repr_html_()


def test_characters_are_shown_one_by_one():
    one = make(characters=True)
    assert tuple(units.labels for units in one.units) == one.tokens
    for weights, alpha in zip(one.word_alpha, one.alpha, strict=True):
        np.testing.assert_allclose(weights, alpha)


@pytest.mark.parametrize("changes", [{}, {"alpha": None}, {"characters": True}])
def test_json_is_read_back(changes):
    written = make(**changes).to_json()
    assert Classification.from_json(json.loads(json.dumps(written))).to_json() == written
