"""Paired tests: the same numbers as sacrebleu's, known p-values by hand, and no difference where there is none."""

import random

import pytest

from regard.errors import DataError
from regard.evaluation.significance import compare_counts, compare_texts, mcnemar
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
def test_the_numbers_are_sacrebleus_but_for_ties(references, name, share, monkeypatch):
    """Means, margins and p-values of its own `PairedTest`, which is made to count equal differences here."""
    from sacrebleu import significance
    from sacrebleu.significance import PairedTest

    from regard.evaluation import text

    def count_ties(differences, observed):
        return (int((differences > observed - 1e-9).sum()) + 1) / (len(differences) + 1)

    monkeypatch.setattr(significance, "_compute_p_value", count_ties)

    systems = corrupted(references, 0.4, 1), corrupted(references, share, 2)
    found = compare_texts(*systems, references, TextOptions(), num_resamples=200, num_shuffles=300)[name]
    results = {}
    for kind, count in (("bs", 200), ("ar", 300)):
        metric = getattr(text, name).build(TextOptions())
        named = [("first", systems[0]), ("second", systems[1])]
        _, table = PairedTest(named, {name: metric}, [references], kind, count)()
        (results[kind],) = (values for key, values in table.items() if key != "System")
    assert found.scores == pytest.approx([each.score for each in results["bs"]])
    assert found.means == pytest.approx([each.mean for each in results["bs"]], rel=1e-5)
    assert found.margins == pytest.approx([each.ci for each in results["bs"]], rel=1e-5)
    assert found.p_bootstrap == results["bs"][1].p_value
    assert found.p_randomization == results["ar"][1].p_value
    if share == 0.38:
        assert min(found.p_bootstrap, found.p_randomization) > 0.05
        assert max(found.p_bootstrap, found.p_randomization) < 1


def test_equal_systems_have_p_values_of_one(systems, references):
    compared = compare_texts(systems[0], list(systems[0]), references, TextOptions(), num_shuffles=100)
    assert {"bleu", "chrf", "ter", "exact_match"} <= compared.keys()
    assert {(each.p_bootstrap, each.p_randomization) for each in compared.values()} == {(1.0, 1.0)}


def test_a_shuffle_that_ties_counts_whatever_its_last_bits():
    """One line differs, so every shuffle has the observed difference, summed in another order."""
    first = [(0.1 * k, 0.3 * k + 0.7) for k in range(1, 40)]
    second = [(first[0][0] + 0.1, first[0][1]), *first[1:]]
    assert compare_counts(first, second, num_shuffles=500).p_randomization == 1.0


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
    """Right and wrong against wrong and wrong: every swap keeps the difference of ½, so it is no evidence at all."""
    compared = compare_counts([(1, 1), (0, 1)], [(0, 1), (0, 1)], num_shuffles=999)
    assert compared.scores == (0.5, 0.0)
    assert compared.p_randomization == 1.0


def test_randomization_of_five_lines_by_hand():
    """Five right against five wrong: 2 of 2⁵ swaps keep the whole difference, p = 1/16."""
    compared = compare_counts([(1, 1)] * 5, [(0, 1)] * 5)
    assert compared.p_randomization == pytest.approx(2 / 32, abs=0.006)  # 2.5 deviations of 10,000 shuffles


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
