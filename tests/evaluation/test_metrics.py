import math

import pytest

from regard.evaluation import measure_quality
from regard.evaluation.metrics import (
    charted_metrics,
    display_name,
    format_score,
    format_with_margin,
    is_better,
    power_of_ten,
)

BLANK = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("bleu", 97.349, "97.3"),
        ("exact_match", 0.9342, f"93.4{BLANK}%"),
        ("aer", 0.0, f"0.0{BLANK}%"),
        ("perplexity", 1.0831, "1.08"),
        ("perplexity", 999_999_999.0, "999,999,999.00"),
        ("perplexity", 1.0142e304, "1.01 × 10³⁰⁴"),
        ("perplexity", math.inf, "inf"),
        ("attention_entropy", 1.234, f"1.23{BLANK}bits"),
        ("attention_coverage", 0.5, f"50.0{BLANK}%"),
        ("attention_monotonicity", -0.333, "−0.33"),
        ("train_seconds", 12.34, "12.3 s"),
        ("train_seconds", 134.2, "2 min 14 s"),
        ("train_seconds", 3600 + 125, "1 h 02 min"),
        ("num_sentences", 12000, "12,000"),
        ("parameters", 912384, "912,384"),
        ("learning_rate", 0.00123456, "0.001235"),
        ("cell", "GRU", "GRU"),
        ("ter", None, "–"),
    ],
)
def test_figures_are_written_for_people(key, value, text):
    assert format_score(key, value) == text


def test_names():
    assert display_name("aer") == "alignment error rate"
    assert display_name("source_vocabulary") == "source vocabulary"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3e-07, "3 × 10⁻⁷"),
        (2.2e-16, "2 × 10⁻¹⁶"),
        (-0.031, "−3 × 10⁻²"),
        (9.6e10, "1 × 10¹¹"),
        (0.0, "0"),
        (float("inf"), "inf"),
    ],
)
def test_sizes_are_powers_of_ten(value, text):
    assert power_of_ten(value) == text


def test_directions():
    """Rates of errors and costs are better when lower; a checkpoint is selected by this."""
    lower = {"loss", "ter", "wer", "per", "aer", "perplexity", "token_error_rate", "character_error_rate"}
    for key in lower:
        assert is_better(key, 0.1, 0.2)
        assert not is_better(key, 0.2, 0.1)
    for key in ("bleu", "chrf", "exact_match", "accuracy", "macro_f1", "sentence_accuracy", "token_accuracy"):
        assert is_better(key, 0.2, 0.1)
        assert not is_better(key, 0.1, 0.1)


def test_wer_and_per_of_phones_and_characters():
    """WER counts whole lines, PER edits of symbols over the references' symbols."""
    phones = measure_quality(["K AE T", "D AO"], ["K AE T", "D AO G Z"], unit="symbols")
    assert (phones["wer"], phones["per"]) == (0.5, 2 / 7)
    letters = measure_quality(["cats", "dog"], ["cat", "dog"], unit="characters")
    assert (letters["wer"], letters["per"]) == (0.5, 1 / 6)
    words = measure_quality(["a cat"], ["a dog"])
    assert list(words.scores)[:2] == ["bleu", "chrf"]
    assert not {"wer", "per"} & words.scores.keys()


def test_words_in_symbols_are_reported_by_wer_and_per_first():
    """What means nothing of them is left out: BLEU of one token is 0, and PER is the token error rate of phones."""
    phones = measure_quality(["K AE T"], ["K AE T"], unit="symbols")
    assert list(phones.scores) == ["wer", "per", "exact_match", "bleu", "chrf"]
    letters = measure_quality(["cat"], ["cat"], unit="characters")
    assert list(letters.scores) == ["wer", "per", "exact_match", "chrf"]
    assert list(letters.signatures) == ["chrf"]
    cut_up = measure_quality(["a cat"], ["a cat"], unit="characters", tokenize="char")
    assert cut_up["bleu"] == pytest.approx(100)
    selected = measure_quality(["cat"], ["cat"], unit="characters", metrics=["wer"], always=["bleu"])
    assert list(selected.scores) == ["wer", "bleu"]


def test_a_chart_by_length_has_one_direction():
    assert charted_metrics(["wer", "per", "exact_match", "chrf"]) == ["wer", "per"]
    assert charted_metrics(["bleu", "chrf", "exact_match", "perplexity"]) == ["bleu", "exact_match"]


def test_a_margin_repeats_no_unit():
    assert format_with_margin("wer", 0.8, 0.0125) == "80.0 ± 1.2\N{NO-BREAK SPACE}%"
    assert format_with_margin("bleu", 20.0, 1.25) == "20.0 ± 1.2"
    assert format_with_margin("bleu", 20.0, None) == "20.0 ± –"
