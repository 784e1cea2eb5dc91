"""Scores by hand: probabilities of a half and a quarter."""

import json
import math

import pytest

from regard.tasks.language_model.result import Scored, TextScore, perplexity

HALF = math.log(0.5)
LINE = Scored("ab c", ("a", "b", "c", "</s>"), (HALF, HALF, 2 * HALF, HALF), 3, 5)


def test_a_line():
    assert LINE.log_prob == pytest.approx(5 * HALF)
    assert LINE.perplexity == pytest.approx(2**1.25)
    assert LINE.to_json()["num_tokens"] == 4
    assert LINE.to_json()["perplexity"] == LINE.perplexity


def test_a_text_counts_tokens_words_and_characters_each():
    text = TextScore.of([LINE, Scored.blank(" "), LINE])
    assert (text.num_lines, text.num_tokens, text.num_words, text.num_characters) == (2, 8, 6, 10)
    assert text.perplexity == pytest.approx(2 ** (10 / 8))
    assert text.word_perplexity == pytest.approx(2 ** (10 / 6))
    assert text.bits_per_character == pytest.approx(1)
    assert text.loss == pytest.approx(-10 * HALF / 8)
    assert text.to_json()["word_perplexity"] == text.word_perplexity


def test_the_perplexity_per_word_is_told_where_it_is_another():
    words = Scored("a b", ("a", "b", "</s>"), (HALF, HALF, HALF), 3, 4)
    assert "word_perplexity" not in TextScore.of([words]).to_json()
    assert TextScore.of([words]).word_perplexity == TextScore.of([words]).perplexity
    assert TextScore.of([words, LINE]).to_json()["word_perplexity"] == pytest.approx(2 ** (8 / 6))


def test_nothing_has_no_score():
    blank = Scored.blank("  ")
    assert (blank.log_prob, blank.perplexity) == (0, None)
    assert TextScore.of([]).num_tokens == 0
    assert TextScore.of([blank]) == TextScore()
    nothing = TextScore.of([blank])
    assert math.isnan(nothing.perplexity)
    assert math.isnan(nothing.bits_per_character)
    scores = nothing.to_json()
    assert (scores["loss"], scores["perplexity"], scores["bits_per_character"]) == (None, None, None)
    assert scores["num_tokens"] == 0


def test_unknown_tokens_are_counted():
    strange = Scored("a z", ("a", "<unk>", "</s>"), (HALF, HALF, HALF), 3, 4, num_unknown=1)
    text = TextScore.of([LINE, strange, strange])
    assert text.num_unknown == text.to_json()["num_unknown"] == 2
    assert text.unknown == "2 of 10 tokens (20\N{NO-BREAK SPACE}%) are unknown"
    assert TextScore.of([LINE]).unknown == ""


def test_a_perplexity_beyond_floats_is_cut_off():
    assert perplexity(1e6) == perplexity(700) < math.inf
    assert perplexity(0.0) == 1.0
    assert perplexity(math.log(7)) == pytest.approx(7)


def test_json_is_read_back():
    for line in (LINE, Scored("x", ("<unk>", "</s>"), (-1.0, -2.0), 2, 2, 1), Scored.blank("  ")):
        assert Scored.from_json(json.loads(json.dumps(line.to_json()))) == line
