import json
import logging

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import ConfigError, DataError
from regard.evaluation import METRICS, TOKENIZERS, LengthBand, measure_by_length, measure_quality
from regard.evaluation.quality import _automatic_bounds

HYPOTHESES = ["the black cat sleeps .", "we do not see her today", "A dog"]
REFERENCES = ["the black cat sleeps .", "we did not see her friend today", "a dog"]

WITHOUT_TER = METRICS.keys() - {"ter"}


def test_scores_are_sacrebleus():
    quality = measure_quality(HYPOTHESES, REFERENCES, tokenize="none")
    assert (
        quality["bleu"] == sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES], tokenize="none", force=True).score
    )
    assert quality["chrf"] == sacrebleu.corpus_chrf(HYPOTHESES, [REFERENCES]).score
    assert quality["ter"] == sacrebleu.corpus_ter(HYPOTHESES, [REFERENCES]).score
    assert 0 < quality["bleu"] < 100


def test_our_own_counts_by_hand():
    quality = measure_quality(HYPOTHESES, REFERENCES)
    assert quality["exact_match"] == pytest.approx(1 / 3)
    assert quality["token_error_rate"] == pytest.approx(3 / 14)  # do → did, + friend, A → a
    assert quality["character_error_rate"] == pytest.approx((2 + 7 + 1) / (22 + 31 + 5))
    assert quality.num_sentences == 3


def test_lowercase_ignores_case_in_every_metric():
    strict, loose = measure_quality(["A Dog runs home"], ["a dog RUNS home"]), None
    loose = measure_quality(["A Dog runs home"], ["a dog RUNS home"], lowercase=True)
    assert (strict["exact_match"], loose["exact_match"]) == (0.0, 1.0)
    assert strict["bleu"] < loose["bleu"] == pytest.approx(100)
    assert strict["chrf"] < loose["chrf"] == pytest.approx(100)
    assert strict["token_error_rate"] == 3 / 4
    assert loose["token_error_rate"] == loose["character_error_rate"] == 0
    assert "case:lc" in loose.signatures["bleu"]
    assert "case:lc" in loose.signatures["chrf"]


def test_blanks_at_the_ends_do_not_count():
    quality = measure_quality([" a dog "], ["a dog"])
    assert (quality["exact_match"], quality["token_error_rate"], quality["character_error_rate"]) == (
        1.0,
        0.0,
        0.0,
    )


def test_signatures_are_sacrebleus():
    signatures = measure_quality(HYPOTHESES, REFERENCES, tokenize="char").signatures
    assert set(signatures) == {"bleu", "chrf", "ter"}
    assert "tok:char" in signatures["bleu"]
    assert all("version:" in signature for signature in signatures.values())


def test_ter_can_be_left_out():
    quality = measure_quality(HYPOTHESES, REFERENCES, metrics=WITHOUT_TER)
    assert "ter" not in quality.scores
    assert set(quality.signatures) == {"bleu", "chrf"}
    assert quality["bleu"] == measure_quality(HYPOTHESES, REFERENCES)["bleu"]


def test_json_has_the_printed_names():
    written = measure_quality(HYPOTHESES, REFERENCES).to_json()
    assert set(written) == {
        "bleu", "chrf", "ter", "exact_match", "token_error_rate", "character_error_rate",
        "num_sentences", "signatures",
    }  # fmt: skip
    assert json.loads(json.dumps(written, allow_nan=False)) == written


@pytest.mark.parametrize("tokenize", TOKENIZERS)
def test_tokenised_text_makes_no_noise(tokenize, caplog, capfd):
    lines = ["the cat sleeps ."] * 120
    with caplog.at_level(logging.DEBUG):
        assert measure_quality(lines, lines, tokenize=tokenize)["bleu"] == pytest.approx(100)
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("hypotheses", "references", "ter", "exact", "error_rate"),
    [([""], [""], 0, 1, 0), (["a"], [""], 100, 0, 1), ([""], ["a b"], 100, 0, 1)],
)
def test_empty_lines(hypotheses, references, ter, exact, error_rate):
    quality = measure_quality(hypotheses, references)
    assert (quality["ter"], quality["exact_match"], quality["token_error_rate"]) == (
        ter,
        exact,
        error_rate,
    )
    assert quality["character_error_rate"] == error_rate


def test_unequal_numbers_of_lines_are_refused():
    with pytest.raises(DataError, match="1 hypotheses, 2 references"):
        measure_quality(["a"], ["a", "b"])


def test_an_empty_corpus_is_refused():
    with pytest.raises(DataError, match="no hypotheses and no references"):
        measure_quality([], [])


def test_a_misspelt_tokenizer_names_the_nearest():
    with pytest.raises(ConfigError, match=r"'non'.*did you mean 'none'\?"):
        measure_quality(["a"], ["a"], tokenize="non")


def lines(lengths):
    return [" ".join(["w"] * length) for length in lengths]


@given(st.lists(st.integers(0, 90), min_size=1, max_size=25))
@settings(max_examples=40, deadline=None)
def test_every_sentence_falls_into_exactly_one_band(lengths):
    sources = lines(lengths)
    bands = measure_by_length(sources, sources, sources, metrics=WITHOUT_TER)
    for length in set(lengths):
        assert sum(band.lower <= length <= band.upper for band in bands) == 1
    for band in bands:
        assert band.num_sentences == sum(band.lower <= length <= band.upper for length in lengths) > 0
        assert band.quality.num_sentences == band.num_sentences
    assert sum(band.num_sentences for band in bands) == len(lengths)
    assert [band.lower for band in bands] == sorted(band.lower for band in bands)


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=200))
@settings(max_examples=200)
def test_three_to_ten_bands_where_the_lengths_allow(lengths):
    bounds = _automatic_bounds(lengths)
    filled = {next(upper for upper in bounds if length <= upper) for length in lengths}
    distinct = len({max(length, 1) for length in lengths})
    assert min(distinct, 3) <= len(filled) <= 10


@pytest.mark.parametrize(
    ("lengths", "bands"),
    [
        (range(1, 31), [(1, 5), (6, 10), (11, 15), (16, 20), (21, 25), (26, 30)]),
        (range(1, 61), [(k + 1, k + 10) for k in range(0, 60, 10)]),
        ([4, 7, 9], [(3, 4), (7, 8), (9, 10)]),
        ([3, 4, 5], [(3, 3), (4, 4), (5, 5)]),
        ([7, 7], [(7, 7)]),
        ([0, 3, 8, 12], [(0, 5), (6, 10), (11, 15)]),
    ],
)
def test_automatic_bands(lengths, bands):
    sources = lines(lengths)
    found = measure_by_length(sources, sources, sources, metrics=WITHOUT_TER)
    assert [(band.lower, band.upper) for band in found] == bands


def test_given_edges_and_the_rest_beyond():
    sources = lines([1, 3, 4, 9, 40])
    bands = measure_by_length(sources, sources, sources, edges=[3, 6, 8], metrics=WITHOUT_TER)
    assert [(band.lower, band.upper, band.num_sentences) for band in bands] == [
        (1, 3, 2),
        (4, 6, 1),
        (9, 40, 2),
    ]


def test_lengths_count_words_or_characters():
    """Of a word that is read by characters, the length in words is 1 whatever it is."""
    sources = ["cat", "elephants", " catamarans "]
    [words] = measure_by_length(sources, sources, sources, unit="characters")
    assert (words.lower, words.upper, words.num_sentences) == (1, 1, 3)
    characters = measure_by_length(
        sources, sources, sources, source_unit="characters", unit="characters", edges=[5, 9, 10]
    )
    assert [(band.lower, band.upper) for band in characters] == [(1, 5), (6, 9), (10, 10)]


def test_a_band_is_measured_by_itself():
    sources = lines([2, 2, 7, 12])
    hypotheses, references = ["a b", "a c", "d e f g", "x"], ["a b", "a b", "d e f g", "y"]
    bands = measure_by_length(sources, hypotheses, references, tokenize="none", lowercase=True)
    assert bands[0] == LengthBand(
        1, 5, 2, measure_quality(hypotheses[:2], references[:2], tokenize="none", lowercase=True)
    )
    assert [band.quality["exact_match"] for band in bands] == [0.5, 1.0, 0.0]
    assert bands[0].to_json() == {"lower": 1, "upper": 5, **bands[0].quality.to_json()}


def test_three_sides_of_one_length():
    with pytest.raises(DataError, match="2 sources, 1 hypotheses, 1 references"):
        measure_by_length(["a", "b"], ["a"], ["a"])


@pytest.mark.parametrize("edges", [[], [0, 5], [5, 5], [10, 5]])
def test_edges_must_ascend(edges):
    with pytest.raises(ConfigError, match="must ascend"):
        measure_by_length(["a"], ["a"], ["a"], edges=edges)
