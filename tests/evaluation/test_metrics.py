import pytest

from regard.evaluation.metrics import name_of, power_of_ten, written

BLANK = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("bleu", 97.349, "97.3"),
        ("exact_match", 0.9342, f"93.4{BLANK}%"),
        ("aer", 0.0, f"0.0{BLANK}%"),
        ("perplexity", 1.0831, "1.08"),
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
    assert written(key, value) == text


def test_names():
    assert name_of("aer") == "alignment error rate"
    assert name_of("source_vocabulary") == "source vocabulary"


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
