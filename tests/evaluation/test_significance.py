"""Paired tests: the same numbers as sacrebleu's, known p-values by hand, and no difference where there is none."""

import random

import numpy as np
import pytest

from regard.errors import DataError
from regard.evaluation.significance import (
    approximate_randomization,
    compare_counts,
    compare_texts,
    mcnemar,
    paired_bootstrap,
)
from regard.evaluation.text import TextOptions


def corrupted(references, share, seed):
    """The references with some words replaced."""
    rng = random.Random(seed)
    return [
        " ".join(rng.choice("vwxyz") if rng.random() < share else word for word in line.split())
        for line in references
    ]


@pytest.fixture
def references():
    rng = random.Random(0)
    return [" ".join(rng.choices("abcdefgh", k=rng.randint(4, 12))) for _ in range(60)]


@pytest.fixture
def systems(references):
    return corrupted(references, 0.4, 1), corrupted(references, 0.15, 2)


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
@pytest.mark.parametrize("share", [0.15, 0.38], ids=["clear", "close"])
def test_one_implementation_computes_what_sacrebleu_computes(references, name, share):
    """Our paired tests on sacrebleu's statistics of each line: its means, margins and p-values."""
    from regard.evaluation import text

    systems = corrupted(references, 0.4, 1), corrupted(references, share, 2)
    expected = compare_texts(*systems, references, TextOptions(), num_resamples=200, num_shuffles=300)[name]
    metric = getattr(text, name).build(TextOptions())
    counts = [
        np.array(metric._extract_corpus_statistics(system, [references]), dtype=np.float64)
        for system in systems
    ]

    def score(totals):
        return metric._compute_score_from_stats(list(totals)).score

    means, margins, p = paired_bootstrap(*counts, score, 200)
    assert means == pytest.approx(expected.means, rel=1e-5)
    assert margins == pytest.approx(expected.margins, rel=1e-5)
    assert p == expected.p_bootstrap
    assert approximate_randomization(*counts, score, 300) == expected.p_randomization
    if share == 0.38:
        assert 0.05 < min(p, expected.p_randomization) < max(p, expected.p_randomization) < 1


def test_a_clear_difference_is_significant_and_none_is_not(systems, references):
    clear = compare_texts(*systems, references, TextOptions(), num_shuffles=1000)
    assert clear["bleu"].is_significant
    assert clear["bleu"].difference > 0
    assert clear["token_error_rate"].difference < 0
    none = compare_texts(systems[0], systems[0], references, TextOptions(), num_shuffles=100)
    assert all(each.difference == 0 and not each.is_significant for each in none.values())


def test_the_scores_are_those_of_the_evaluation(systems, references):
    from regard.evaluation import measure_quality

    options = TextOptions(unit="symbols")
    compared = compare_texts(*systems, references, options, num_resamples=10, num_shuffles=10)
    for number, system in enumerate(systems):
        quality = measure_quality(system, references, unit="symbols")
        assert list(compared) == list(quality.scores)
        for key, value in quality.scores.items():
            assert compared[key].scores[number] == pytest.approx(value)


def test_randomization_of_two_lines_by_hand():
    """Right and wrong against wrong and wrong: half of all swaps keep the difference of ½, none makes it larger."""
    compared = compare_counts([(1, 1), (0, 1)], [(0, 1), (0, 1)], num_shuffles=999)
    assert compared.scores == (0.5, 0.0)
    assert compared.p_randomization == pytest.approx(1 / 1000)


def test_the_interval_covers_the_share(references):
    """1,000 answers of which 70 % are right: the margin is 1.96 √(0.7 · 0.3 / 1000) = 2.8 %."""
    right = [(float(k % 10 < 7), 1.0) for k in range(1000)]
    compared = compare_counts(right, right, num_shuffles=10)
    assert compared.means[0] == pytest.approx(0.7, abs=0.003)
    assert compared.margins[0] == pytest.approx(0.0284, abs=0.003)


def test_case_is_ignored_where_it_should_be():
    compared = compare_texts(
        ["A b"], ["a b"], ["a b"], TextOptions(lowercase=True), num_resamples=5, num_shuffles=5
    )
    assert compared["exact_match"].scores == (1.0, 1.0)


def test_different_numbers_of_lines():
    with pytest.raises(DataError, match="1 first, 2 second, 2 references"):
        compare_texts(["a"], ["a", "b"], ["a", "b"], TextOptions())


@pytest.mark.parametrize(
    ("b", "c", "p"),
    # by hand: 2 · (C(5,0)) / 32; 2 · (1 + 10 + 45) / 1024; equal counts; nothing to compare
    [(0, 5, 0.0625), (2, 8, 112 / 1024), (4, 4, 1.0), (0, 0, 1.0)],
)
def test_mcnemar(b, c, p):
    assert mcnemar(b, c) == pytest.approx(p)
    assert mcnemar(c, b) == pytest.approx(p)
