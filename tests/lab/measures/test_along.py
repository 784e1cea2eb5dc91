"""Means along sentences of different lengths."""

import math

from hypothesis import given
from hypothesis import strategies as st

from regard.lab.measures.length import mean_by_part, mean_by_place

ROWS = st.lists(st.lists(st.floats(-9, 9), min_size=1, max_size=12), min_size=1, max_size=6)


def test_a_place_counts_only_the_sentences_that_reach_it() -> None:
    means = mean_by_place([[1.0, 4.0], [3.0], [5.0, 6.0, 8.0]], 4)
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
