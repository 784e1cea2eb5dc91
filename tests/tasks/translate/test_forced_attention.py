"""A translator's search trees, and its translations under forced attention and other interventions."""

import numpy as np
import pytest
import torch

from regard.errors import ConfigError, DataError
from regard.inference.ensemble import Ensemble
from regard.tasks.translate.predictor import Translator
from regard.text import EOS, train_tokenizer

LINE = "a b c d"
ONE_WAY = {"encoder": {"bidirectional": False, "state_size": 4}}
ATTENDING = {
    "bahdanau-gru": {"kind": "bahdanau"},
    "bahdanau-lstm": {"kind": "bahdanau", "cell": "lstm", "num_layers": 2},
    "bahdanau-coverage": {"kind": "bahdanau", "attention": {"coverage": True}},
    "luong-feeding": {"kind": "luong", "cell": "lstm", "input_feeding": True},
    "luong-local": {"kind": "luong", "attention": {"energy": "dot", "window": "local-p", "window_size": 1}},
    "luong-heads": {"kind": "luong", "attention": {"energy": "qkv", "heads": 2}},
    "deep-fusion": {"kind": "deep-fusion", "cell": "lstmn", **ONE_WAY},
}


@pytest.fixture
def translator(tiny_model):
    """One that says something: its EOS is unlikely."""

    def build(**options):
        model = tiny_model(**options).float()
        with torch.no_grad():
            model.decoder.output.b_o[EOS] -= 4
        return Translator(model, *(train_tokenizer("word", ["a b c d e"], size=9) for _ in range(2)))

    return build


@pytest.mark.parametrize("options", ATTENDING.values(), ids=ATTENDING.keys())
def test_forced_attention_holds_for_every_decoder_that_attends(options, translator):
    made = translator(**options)
    result = made.what_if(LINE, attend={1: "c", 3: 4}, beam=3, unknowns=False)
    np.testing.assert_array_equal(result.after.alpha[1], np.eye(5)[2])
    np.testing.assert_array_equal(result.after.alpha[3], np.eye(5)[4])
    # before the first forced step all is as it was; then it is left to the model again
    before = made.what_if(LINE, prefix=result.after.tokens[0], beam=3, unknowns=False).after
    np.testing.assert_allclose(result.after.alpha[0], before.alpha[0], atol=1e-6)
    assert result.after.token_log_probs[0] == pytest.approx(before.token_log_probs[0], abs=1e-5)
    assert not np.allclose(result.after.alpha[2].max(), 1)
    assert result.after.log_prob != pytest.approx(result.before.log_prob, abs=1e-4)
    (plain,) = made.translate([LINE], beam=3, unknowns=False)
    assert (result.before.text, result.before.score) == (plain.text, plain.score)


def test_attention_is_forced_in_every_member_of_an_ensemble(translator):
    members = [translator(kind=kind) for kind in ("bahdanau", "luong")]
    both = Translator(
        Ensemble([one.model for one in members]), members[0].source_tokenizer, members[0].target_tokenizer
    )
    result = both.what_if(LINE, attend={0: "b"})
    np.testing.assert_array_equal(result.after.alpha[0], np.eye(5)[1])


@pytest.mark.parametrize("kind", ["cho", "sutskever"])
def test_without_attention_there_is_nothing_to_tell_but_words(kind, translator):
    fixed = translator(kind=kind)
    with pytest.raises(ConfigError, match="attend: this model has no attention to force"):
        fixed.what_if(LINE, attend={0: "a"})
    result = fixed.what_if(LINE, prefix="b c")
    assert result.after.tokens[:2] == ("b", "c")
    assert result.alpha_difference is None


def test_a_swap_is_the_other_line_and_a_prefix_is_kept(translator):
    made = translator(kind="bahdanau")
    result = made.what_if(LINE, swap={"b": "e", 3: ""}, prefix="e e", include=["a"], exclude=["c"], beam=4)
    assert result.after.source == "a e c "
    assert result.swap == {1: "e", 3: ""}
    assert result.after.tokens[:2] == ("e", "e")
    assert "a" in result.after.tokens
    assert "c" not in result.after.tokens
    assert (result.prefix, result.include, result.exclude) == ("e e", ("a",), ("c",))
    (plain,) = made.translate(["a e c "])
    swap = made.what_if(LINE, swap={"b": "e", 3: ""})
    assert (swap.after.text, swap.after.score) == (plain.text, pytest.approx(plain.score))


def test_a_blank_line_has_nothing_to_be_told(translator):
    with pytest.raises(DataError, match="the line is blank"):
        translator(kind="bahdanau").what_if("  ", prefix="a")


class TestTree:
    def test_it_is_of_the_translation(self, translator):
        made = translator(kind="bahdanau")
        tree = made.tree(LINE, beam=4, n_best=2)
        (plain,) = made.translate([LINE], beam=4, n_best=2)
        assert (tree.translation.text, tree.translation.score) == (plain.text, plain.score)
        assert [one.token for one in tree.best] == list(plain.tokens)
        np.testing.assert_allclose(np.stack([one.alpha for one in tree.best]), plain.alpha, atol=1e-6)
        assert tree.best[-1].score == pytest.approx(plain.score)
        assert [one.score for one in tree.finished][:2] == pytest.approx(
            [plain.score, plain.alternatives[0].score]
        )
        first = tree.steps[0][0]
        assert first.alternatives[0] == (first.token, first.log_prob)
        assert {one.fate for one in tree.steps[0]} == {"kept", "pruned"}

    def test_a_blank_line_has_none(self, translator):
        tree = translator(kind="bahdanau").tree(" ")
        assert tree.steps == tree.best == tree.finished == ()
        assert tree.to_json()["steps"] == []
