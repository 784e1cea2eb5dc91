import json
import logging

import pytest
import sacrebleu

from regard.errors import ConfigError, DataError
from regard.evaluation import METRICS, TOKENIZERS, measure

HYPOTHESES = ["the black cat sleeps .", "we do not see her today", "A dog"]
REFERENCES = ["the black cat sleeps .", "we did not see her friend today", "a dog"]

WITHOUT_TER = METRICS.keys() - {"ter"}


def test_sacrebleu_has_the_last_word():
    quality = measure(HYPOTHESES, REFERENCES, tokenize="none")
    assert (
        quality["bleu"] == sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES], tokenize="none", force=True).score
    )
    assert quality["chrf"] == sacrebleu.corpus_chrf(HYPOTHESES, [REFERENCES]).score
    assert quality["ter"] == sacrebleu.corpus_ter(HYPOTHESES, [REFERENCES]).score
    assert 0 < quality["bleu"] < 100


def test_our_own_counts_by_hand():
    quality = measure(HYPOTHESES, REFERENCES)
    assert quality["exact_match"] == pytest.approx(1 / 3)
    assert quality["token_error_rate"] == pytest.approx(3 / 14)  # do → did, + friend, A → a
    assert quality["character_error_rate"] == pytest.approx((2 + 7 + 1) / (22 + 31 + 5))
    assert quality.num_sentences == 3


def test_lowercase_overlooks_case_everywhere():
    strict, loose = measure(["A Dog runs home"], ["a dog RUNS home"]), None
    loose = measure(["A Dog runs home"], ["a dog RUNS home"], lowercase=True)
    assert (strict["exact_match"], loose["exact_match"]) == (0.0, 1.0)
    assert strict["bleu"] < loose["bleu"] == pytest.approx(100)
    assert strict["chrf"] < loose["chrf"] == pytest.approx(100)
    assert strict["token_error_rate"] == 3 / 4
    assert loose["token_error_rate"] == loose["character_error_rate"] == 0
    assert "case:lc" in loose.signatures["bleu"]
    assert "case:lc" in loose.signatures["chrf"]


def test_blanks_at_the_ends_do_not_count():
    quality = measure([" a dog "], ["a dog"])
    assert (quality["exact_match"], quality["token_error_rate"], quality["character_error_rate"]) == (
        1.0,
        0.0,
        0.0,
    )


def test_signatures_say_how_it_was_counted():
    signatures = measure(HYPOTHESES, REFERENCES, tokenize="char").signatures
    assert set(signatures) == {"bleu", "chrf", "ter"}
    assert "tok:char" in signatures["bleu"]
    assert all("version:" in signature for signature in signatures.values())


def test_ter_can_be_left_out():
    quality = measure(HYPOTHESES, REFERENCES, metrics=WITHOUT_TER)
    assert "ter" not in quality.scores
    assert set(quality.signatures) == {"bleu", "chrf"}
    assert quality["bleu"] == measure(HYPOTHESES, REFERENCES)["bleu"]


def test_json_has_the_printed_names():
    written = measure(HYPOTHESES, REFERENCES).to_json()
    assert set(written) == {
        "bleu", "chrf", "ter", "exact_match", "token_error_rate", "character_error_rate",
        "num_sentences", "signatures",
    }  # fmt: skip
    assert json.loads(json.dumps(written, allow_nan=False)) == written


@pytest.mark.parametrize("tokenize", TOKENIZERS)
def test_tokenised_text_makes_no_noise(tokenize, caplog, capfd):
    lines = ["the cat sleeps ."] * 120
    with caplog.at_level(logging.DEBUG):
        assert measure(lines, lines, tokenize=tokenize)["bleu"] == pytest.approx(100)
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("hypotheses", "references", "ter", "exact", "learning_rate"),
    [([""], [""], 0, 1, 0), (["a"], [""], 100, 0, 1), ([""], ["a b"], 100, 0, 1)],
)
def test_empty_lines(hypotheses, references, ter, exact, learning_rate):
    quality = measure(hypotheses, references)
    assert (quality["ter"], quality["exact_match"], quality["token_error_rate"]) == (
        ter,
        exact,
        learning_rate,
    )
    assert quality["character_error_rate"] == learning_rate


def test_unequal_sides_are_counted_out():
    with pytest.raises(DataError, match="1 hypotheses, 2 references"):
        measure(["a"], ["a", "b"])


def test_an_empty_corpus_is_refused():
    with pytest.raises(DataError, match="no hypotheses and no references"):
        measure([], [])


def test_a_misspelt_tokenizer_is_set_right():
    with pytest.raises(ConfigError, match=r"'non'.*did you mean 'none'\?"):
        measure(["a"], ["a"], tokenize="non")
