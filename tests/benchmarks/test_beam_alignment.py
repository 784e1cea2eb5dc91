"""A beam's links against those of forced decoding: none differ, and those of a mixed-up beam do."""

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
    """One that says something: its end mark is unlikely."""
    model = tiny_model("luong", "lstm")
    with torch.no_grad():
        model.decoder.output.b_o[EOS] -= 8
    return Translator(model, *(train_tokenizer("word", ["a b c d e"], size=9) for _ in range(2)))


def test_a_beam_hands_out_the_attention_of_its_words(translator):
    references = [one.text for one in translator.translate(LINES, beam=4)]
    references[1] = "another"
    gold = [GoldLinks(frozenset({(0, 0)})) for _ in LINES]
    found = compare(translator, LINES, references, gold, 4)
    assert (found.num_sentences, found.num_exact, found.num_differing) == (6, 5, 0)
    assert found.num_links > 10
    assert found.beam_aer == found.forced_aer > 0
    assert found.alpha < 1e-6
    assert found.log_prob < 1e-10
    assert table([found]).rows[0][:5] == ("4", "6", str(found.num_links), "0", "5")


def test_attention_of_other_words_would_be_seen(translator, monkeypatch):
    real = translator.translate

    def mixed_up(lines, **options):
        found = real(lines, **options)
        return [replace(one, alpha=np.roll(one.alpha, 1, axis=1)) for one in found]

    monkeypatch.setattr(translator, "translate", mixed_up)
    gold = [GoldLinks(frozenset({(0, 0)})) for _ in LINES]
    found = compare(translator, LINES, LINES, gold, 4)
    assert found.num_differing > 0
    assert found.alpha > 0.01
