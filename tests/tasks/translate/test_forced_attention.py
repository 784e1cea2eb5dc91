"""Looking into a translator's search: its trees, and what it says when it is told something."""

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
    "luong-local": {"kind": "luong", "attention": {"energy": "dot", "window": "local-p", "reach": 1}},
    "luong-heads": {"kind": "luong", "attention": {"energy": "qkv", "heads": 2}},
    "deep-fusion": {"kind": "deep-fusion", "cell": "lstmn", **ONE_WAY},
}


@pytest.fixture
def translator(tiny_model):
    """One that says something: its end mark is unlikely."""

    def build(**options):
        model = tiny_model(**options).float()
        with torch.no_grad():
            model.decoder.output.b_o[EOS] -= 4
        return Translator(model, *(train_tokenizer("word", ["a b c d e"], size=9) for _ in range(2)))

    return build


@pytest.mark.parametrize("options", ATTENDING.values(), ids=ATTENDING.keys())
def test_told_attention_holds_for_every_decoder_that_attends(options, translator):
    asked = translator(**options)
    told = asked.what_if(LINE, attend={1: "c", 3: 4}, beam=3, unknowns=False)
    np.testing.assert_array_equal(told.after.alpha[1], np.eye(5)[2])
    np.testing.assert_array_equal(told.after.alpha[3], np.eye(5)[4])
    # before the first told step all is as it was; then it is left to the model again
    before = asked.what_if(LINE, prefix=told.after.tokens[0], beam=3, unknowns=False).after
    np.testing.assert_allclose(told.after.alpha[0], before.alpha[0], atol=1e-6)
    assert told.after.token_log_probs[0] == pytest.approx(before.token_log_probs[0], abs=1e-5)
    assert not np.allclose(told.after.alpha[2].max(), 1)
    assert told.after.log_prob != pytest.approx(told.before.log_prob, abs=1e-4)
    (plain,) = asked.translate([LINE], beam=3, unknowns=False)
    assert (told.before.text, told.before.score) == (plain.text, plain.score)


def test_a_told_step_is_told_to_every_member_of_an_ensemble(translator):
    members = [translator(kind=kind) for kind in ("bahdanau", "luong")]
    both = Translator(
        Ensemble([one.model for one in members]), members[0].source_tokenizer, members[0].target_tokenizer
    )
    told = both.what_if(LINE, attend={0: "b"})
    np.testing.assert_array_equal(told.after.alpha[0], np.eye(5)[1])


@pytest.mark.parametrize("kind", ["cho", "sutskever"])
def test_without_attention_there_is_nothing_to_tell_but_words(kind, translator):
    fixed = translator(kind=kind)
    with pytest.raises(ConfigError, match="this model has no attention that could be told where to look"):
        fixed.what_if(LINE, attend={0: "a"})
    told = fixed.what_if(LINE, prefix="b c")
    assert told.after.tokens[:2] == ("b", "c")
    assert told.alpha_difference is None


def test_a_swap_is_the_other_line_and_a_prefix_is_kept(translator):
    asked = translator(kind="bahdanau")
    told = asked.what_if(LINE, swap={"b": "e", 3: ""}, prefix="e e", include=["a"], exclude=["c"], beam=4)
    assert told.after.source == "a e c "
    assert told.swap == {1: "e", 3: ""}
    assert told.after.tokens[:2] == ("e", "e")
    assert "a" in told.after.tokens
    assert "c" not in told.after.tokens
    assert (told.prefix, told.include, told.exclude) == ("e e", ("a",), ("c",))
    (plain,) = asked.translate(["a e c "])
    swap = asked.what_if(LINE, swap={"b": "e", 3: ""})
    assert (swap.after.text, swap.after.score) == (plain.text, pytest.approx(plain.score))


def test_a_blank_line_has_nothing_to_be_told(translator):
    with pytest.raises(DataError, match="the line is blank"):
        translator(kind="bahdanau").what_if("  ", prefix="a")


class TestTree:
    def test_it_is_of_the_translation(self, translator):
        asked = translator(kind="bahdanau")
        tree = asked.tree(LINE, beam=4, n_best=2)
        (plain,) = asked.translate([LINE], beam=4, n_best=2)
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
