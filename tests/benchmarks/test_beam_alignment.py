"""Links of beam search against those of forced decoding: none differ, unless attention is shifted."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from benchmarks.beam_alignment import compare, table

from regard.tasks.translate.predictor import Translator
from regard.text import EOS, GoldLinks, train_tokenizer

LINES = ["a b c", "e", "d d d d a a", "c b a e", "b e d", "a c"]


@pytest.fixture
def translator(tiny_model):
    """With outputs that are not empty: the end symbol is improbable."""
    model = tiny_model("luong", "lstm")
    with torch.no_grad():
        model.decoder.output.b_o[EOS] -= 8
    return Translator(model, *(train_tokenizer("word", ["a b c d e"], size=9) for _ in range(2)))


def test_beam_search_returns_the_attention_of_its_words(translator):
    references = [translation.text for translation in translator.translate(LINES, beam=4)]
    references[1] = "another"
    gold = [GoldLinks(frozenset({(0, 0)})) for _ in LINES]
    result = compare(translator, LINES, references, gold, 4)
    assert (result.num_sentences, result.num_exact, result.num_differing) == (6, 5, 0)
    assert result.num_links > 10
    assert result.beam_aer == result.forced_aer > 0
    assert result.alpha < 1e-6
    assert result.log_prob < 1e-10
    assert table([result]).rows[0][:5] == ("4", "6", str(result.num_links), "0", "5")


def test_attention_of_other_words_is_detected(translator, monkeypatch):
    translate = translator.translate

    def shifted(lines, **options):
        translations = translate(lines, **options)
        return [replace(each, alpha=np.roll(each.alpha, 1, axis=1)) for each in translations]

    monkeypatch.setattr(translator, "translate", shifted)
    gold = [GoldLinks(frozenset({(0, 0)})) for _ in LINES]
    result = compare(translator, LINES, LINES, gold, 4)
    assert result.num_differing > 0
    assert result.alpha > 0.01
