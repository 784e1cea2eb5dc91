"""What a translator searches with: one model or several, frozen, in a precision, among a shortlist; or draws from."""

import numpy as np
import pytest
import torch

from regard.errors import ConfigError
from regard.inference.ensemble import Ensemble
from regard.inference.shortlist import Shortlist
from regard.search import SamplingOptions
from regard.tasks.translate.constraints import Constraints
from regard.tasks.translate.predictor import Sampling, Translator
from regard.text import EOS, train_tokenizer

LINES = ["a b c", "", "e", "d d d d a a"]


@pytest.fixture
def translator(tiny_model):
    def build(*kinds, dtype=torch.float64, **options):
        tokenizer = train_tokenizer("word", ["a b c d e"], size=9)
        models = [tiny_model(kind).to(dtype) for kind in kinds or ("bahdanau",)]
        return Translator(
            models[0] if len(models) == 1 else Ensemble(models), tokenizer, tokenizer, **options
        )

    return build


def texts(found):
    return [each.text for each in found]


class TestFreshness:
    def test_weights_that_change_are_noticed(self, translator):
        """The copy that is searched with is made anew; else a validation would see the weights of the first."""
        made = translator(dtype=torch.float32)  # so that matrices are packed, where there are kernels
        before = made.translate(["a b c"])[0]
        with torch.no_grad():
            made.model.decoder.output.W_o.mul_(-0.5)
        after = made.translate(["a b c"])[0]
        assert after.log_prob != pytest.approx(before.log_prob, abs=1e-2)
        again = made.align([after.source], [after.text])[0]
        assert after.log_prob == pytest.approx(again.log_prob, abs=1e-4)

    def test_weights_that_stay_are_frozen_once(self, translator, monkeypatch):
        from regard.inference import packing as frozen

        count = []
        real = frozen.pack_model
        monkeypatch.setattr(frozen, "freeze", lambda *given: count.append(1) or real(*given))
        made = translator("bahdanau", "cho")
        for _ in range(3):
            made.translate(["a"])
        assert len(count) == 2, "each member once"


def test_precisions(translator):
    """Rounded weights give other scores, not far from the true ones; forced decoding is not rounded."""
    exact, *rounded = (
        translator(dtype=torch.float32, precision=name) for name in ("float32", "bfloat16", "int8")
    )
    for each in rounded:
        one, other = exact.translate(["a b c"], beam=1)[0], each.translate(["a b c"], beam=1)[0]
        assert other.log_prob != one.log_prob
        assert other.log_prob == pytest.approx(one.log_prob, abs=0.5)
        assert each.align(["a"], ["b"])[0].log_prob == exact.align(["a"], ["b"])[0].log_prob
    with pytest.raises(ConfigError, match="precision: no 'int9'; did you mean 'int8'"):
        translator(precision="int9")


class TestEnsemble:
    def test_one_model_twice_is_that_model(self, translator):
        alone, together = translator("luong"), translator("luong", "luong")
        for one, other in zip(alone.translate(LINES), together.translate(LINES), strict=True):
            assert (one.text, one.links) == (other.text, other.links)
            assert one.score == pytest.approx(other.score, abs=1e-10)

    def test_it_aligns_if_any_member_attends(self, translator):
        mixed = translator("cho", "bahdanau")
        assert mixed.attends
        assert not translator("cho", "sutskever").attends
        found = mixed.translate(["a b c"])[0]
        again = mixed.align([found.source], [found.text])[0]
        assert again.log_prob == pytest.approx(found.log_prob, abs=1e-9)
        np.testing.assert_allclose(again.alpha, found.alpha, atol=1e-6)


class TestDrawing:
    def test_every_line_and_draw_has_its_own_seed(self, translator):
        made = translator()
        sampling = Sampling(number=3, seed=5)
        whole = made.translate(["a b"] * 6, sampling=sampling)
        every = [each.text for found in whole for each in (found, *found.alternatives)]
        assert len(every) == 18
        assert len(set(every)) > 6
        stream = made.translate_stream(["a b"] * 6, chunk=2, sampling=sampling, batch_sentences=1)
        assert texts(stream) == texts(whole), "neither chunks nor batches change a draw"
        assert texts(made.translate(["a b"] * 6, sampling=Sampling(number=3, seed=6))) != texts(whole)

    def test_temperature_nought_is_greedy(self, translator):
        made = translator()
        drawn = made.translate(LINES, sampling=Sampling(SamplingOptions(temperature=0.0)))
        assert texts(drawn) == texts(made.translate(LINES, beam=1))

    def test_prefixes_hold(self, translator):
        found = translator().translate(["a b"] * 5, sampling=Sampling(), constraints=Constraints("e d"))
        assert all(each.tokens[:2] == ("e", "d") for each in found)

    def test_how_many(self):
        with pytest.raises(ConfigError, match="the number of samples: 0 is out of range"):
            Sampling(number=0)


class TestConstraints:
    def test_for_all_and_for_each(self, translator):
        made = translator()
        assert all(
            each.text.startswith("e d")
            for each in made.translate(["a", "b c"], constraints=Constraints("e d"))
        )
        constraints = [
            Constraints("d"),
            Constraints(),
            Constraints(include=("c c",)),
            Constraints(exclude=("a",)),
        ]
        first, blank, third, fourth = made.translate(LINES, constraints=constraints)
        assert first.text.startswith("d")
        assert blank.text == ""
        assert "c c" in third.text
        assert "a" not in fourth.tokens

    def test_along_a_stream(self, translator):
        constraints = (Constraints(prefix) for prefix in "abcde")
        found = translator().translate_stream(["a"] * 5, chunk=2, constraints=constraints)
        assert [each.tokens[0] for each in found] == list("abcde")


def test_a_shortlist_is_kept_to_unless_words_are_asked_for(translator):
    only = Shortlist(np.zeros(10, dtype=np.int64), np.empty(0, dtype=np.int64), np.array([4, 5]), 9)
    made = translator(shortlist=only)
    allowed = {"<unk>", "</s>", *made.target_tokenizer.tokens([4, 5])}
    for each in made.translate(LINES, n_best=3):
        assert all(set(one.tokens) <= allowed for one in (each, *each.alternatives))
    other = made.target_tokenizer.tokens([7])[0]
    found = made.translate(["a"], constraints=Constraints(include=(other,)))[0]
    assert other in found.tokens
    assert made.target_tokenizer.token_to_id(found.tokens[-1]) == EOS
