import json

import numpy as np
import pytest

from regard.errors import ConfigError, DataError
from regard.plots.colours import cell_colour
from regard.tasks.language_model.result import Reading


def make(**changes):
    """ "the cats ran", with cats in two pieces, read by two layers."""
    below = np.array([[0, 0, 0, 0], [1, 0, 0, 0], [0.3, 0.7, 0, 0], [0.2, 0.5, 0.3, 0]], dtype=np.float32)
    fields = {
        "text": "the cats ran",
        "tokens": ("the", "cat", "s", "ran"),
        "words": (0, 1, 1, 2),
        "alpha": (below, np.tril(np.ones((4, 4)), -1) / np.maximum(np.arange(4), 1)[:, None]),
        "token_log_probs": (None, -1.0, -0.5, -2.0),
    }
    return Reading(**{**fields, **changes})


def test_word_alpha_is_the_mean_over_who_looks_and_the_sum_over_what_is_looked_at():
    assert make().labels == ("the", "cats", "ran")
    np.testing.assert_allclose(
        make().word_alpha(0), [[0, 0, 0], [(1 + 0.3) / 2, 0.7 / 2, 0], [0.2, 0.8, 0]], atol=1e-6
    )
    np.testing.assert_array_equal(make().word_alpha(), make().word_alpha(1))
    np.testing.assert_array_equal(make().word_alpha(-2), make().word_alpha(0))


@pytest.mark.parametrize("layer", [2, -3])
def test_a_layer_that_is_not_there(layer):
    with pytest.raises(ConfigError, match=rf"layer = {layer}, .*'the cats ran' has 2 layers"):
        make().word_alpha(layer)


def test_json_holds_everything():
    written = make().to_json()
    assert json.loads(json.dumps(written, allow_nan=False)) == written
    assert written["alpha"][0][2] == [0.3, 0.7, 0.0, 0.0]  # not float32's 0.30000001
    assert written["token_log_probs"] == [None, -1.0, -0.5, -2.0]
    assert set(written) == {"text", "tokens", "words", "alpha", "token_log_probs"}
    assert make(token_log_probs=None).to_json()["token_log_probs"] is None


def test_plot_draws_the_words_of_the_layer(tmp_path):
    path = tmp_path / "reading.svg"
    make().plot(path, layer=0, title="A title that is longer than any word may be")
    written = path.read_text()
    assert written.count(">cats</text>") == 2  # newest in row 2, past in row 3
    assert ">A title that is longer than any word may be</text>" in written
    grounds = [
        {patch.get_facecolor() for patch in make().plot(layer=layer).axes[0].patches} for layer in (0, 1, -1)
    ]
    assert grounds[0] != grounds[1] == grounds[2]


def test_nothing_read_is_an_empty_picture():
    nothing = Reading("", (), (), (np.zeros((0, 0)),))
    assert nothing.labels == ()
    assert not nothing.plot().axes[0].texts


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"words": (0, 1)}, "'the cats ran': 2 words for 4 tokens"),
        ({"token_log_probs": (-1.0,)}, "1 token_log_probs for 4 tokens"),
        (
            {"alpha": (np.zeros((4, 3)),)},
            r"alpha of layer 0 has shape \(4, 3\) where its tokens need \(4, 4\)",
        ),
        (
            {"alpha": (np.eye(4), np.eye(4)[::-1])},
            "step 0 of layer 1 attends ahead, to position 3; .*transposed",
        ),
    ],
)
def test_what_does_not_fit(changes, message):
    with pytest.raises(DataError, match=message):
        make(**changes)


def test_what_a_softmax_leaves_on_the_hidden_is_no_looking_ahead():
    make(alpha=(np.tril(np.ones((4, 4))) + 1e-9,))


def test_a_notebook_shows_the_last_layers_attention_between_words():
    page = make(text="the <b> ran")._repr_html_()
    assert page.count('scope="row"') == 3
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert f'<td style="background:{cell_colour(make().word_alpha()[2, 1])}"' in page
    assert make(alpha=())._repr_html_().startswith("<div")


def test_characters_are_shown_one_by_one():
    one = make(characters=True)
    assert one.labels == one.tokens
    np.testing.assert_allclose(one.word_alpha(0), one.alpha[0])
