"""Means along sentences of different lengths."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.lab.measures.translations import mean_by_part, mean_by_position, score_translations

ROWS = st.lists(st.lists(st.floats(-9, 9), min_size=1, max_size=12), min_size=1, max_size=6)


def test_a_place_counts_only_the_sentences_that_reach_it() -> None:
    means = mean_by_position([[1.0, 4.0], [3.0], [5.0, 6.0, 8.0]], 4)
    assert means[:3] == [3.0, 5.0, 8.0]
    assert math.isnan(means[3])


def test_each_word_of_a_part_counts_alike() -> None:
    # of six words two are in each third, of three words one
    assert mean_by_part([[0.0, 0.0, 6.0, 6.0, 9.0, 9.0], [3.0, 3.0, 3.0]], 3) == [1.0, 5.0, 7.0]


def test_a_part_without_a_word_is_no_number() -> None:
    first, second = mean_by_part([[2.0]], 2)
    assert first == 2.0
    assert math.isnan(second)


@given(ROWS)
def test_one_part_is_the_mean_of_all_words(rows: list[list[float]]) -> None:
    words = [value for row in rows for value in row]
    assert math.isclose(mean_by_part(rows, 1)[0], sum(words) / len(words), abs_tol=1e-9)


@given(ROWS, st.integers(1, 5))
def test_no_word_is_lost_and_parts_differ_by_one_word(rows: list[list[float]], parts: int) -> None:
    """Parts' means, each times its words, sum to the sentence."""
    for row in rows:
        cut = [[i * parts // len(row) for i in range(len(row))].count(part) for part in range(parts)]
        assert max(cut) - min(cut) <= 1
        means = mean_by_part([row], parts)
        total = sum(mean * count for mean, count in zip(means, cut, strict=True) if count)
        assert math.isclose(total, sum(row), abs_tol=1e-9)


def test_by_hand() -> None:
    wanted = ["le chien dort ici .", "il pleut ."]
    assert score_translations(wanted, wanted) == pytest.approx(
        {"sentences": 2, "bleu": 100.0, "exact_match": 100.0, "length_ratio": 1.0}
    )
    half = score_translations(["le chien dort ici .", ""], wanted)
    assert half["exact_match"] == 50.0
    assert half["length_ratio"] == pytest.approx(5 / 8)
    # every n-gram is right; what is missing costs exp(1 − 8/5)
    assert half["bleu"] == pytest.approx(100 * 2.718281828 ** (1 - 8 / 5), rel=1e-6)
