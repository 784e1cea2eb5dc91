import math
from itertools import product

import pytest

from regard.lab.measures.samples import (
    chance_variation,
    distinct_lines,
    distinct_ngrams,
    entropy,
    ngrams,
    spearman,
    tempered,
    total_variation,
)


def test_ngrams():
    assert ngrams("a b c d", 3) == [("a", "b", "c"), ("b", "c", "d")]
    assert ngrams("a b", 3) == []


def test_shares_of_what_differs():
    assert distinct_lines(["a", "b", "a", "a"]) == 0.5
    assert distinct_ngrams(["a b a", "b a"], 2, 100) == pytest.approx(2 / 3)
    assert distinct_ngrams(["a b a", "b a"], 2, 2) == 1  # the first two alone
    assert math.isnan(distinct_ngrams(["a"], 2, 5))


def test_entropy_in_bits():
    assert entropy([0.25] * 4) == pytest.approx(2)
    assert entropy([1.0, 0.0]) == 0


def test_temperature():
    p = [0.5, 0.3, 0.2, 0.0]
    assert tempered(p, 1.0) == pytest.approx(p)
    assert tempered(p, 0.5) == pytest.approx([0.25 / 0.38, 0.09 / 0.38, 0.04 / 0.38, 0])
    assert entropy(tempered(p, 0.5)) < entropy(p) < entropy(tempered(p, 2.0))
    assert tempered(p, 0.01)[0] == pytest.approx(1)


def test_total_variation():
    assert total_variation({"a": 0.5, "b": 0.5}, {"a": 3, "b": 1}) == pytest.approx(0.25)
    assert total_variation({"a": 1.0}, {"b": 2}) == pytest.approx(1)


def test_what_chance_gives_agrees_with_enumeration():
    p, draws = [0.7, 0.3], 4
    each = []
    for way in product((0, 1), repeat=draws):
        share = way.count(0) / draws
        each.append((math.prod(p[one] for one in way), abs(share - 0.7)))
    mean, high = chance_variation(p, draws, 0.99)
    assert mean == pytest.approx(sum(weight * off for weight, off in each), abs=0.01)
    assert high == pytest.approx(0.45)  # one of four or worse, one time in 12; none of four, one time in 123
    assert chance_variation(p, draws, 0.995)[1] == pytest.approx(0.7)
    assert chance_variation(p, 4000, 0.99)[1] < 0.03


def test_ranks():
    assert spearman([1, 2, 3, 4], [0.1, 5, 6, 100]) == pytest.approx(1)
    assert spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    # two neighbours of six change places
    assert spearman(range(6), [0, 1, 3, 2, 4, 5]) == pytest.approx(1 - 6 * 2 / (6 * 35))
    assert spearman([1, 2, 3, 4], [1, 2, 2, 3]) == pytest.approx(0.9486833)  # a tie shares its ranks
    assert math.isnan(spearman([1, 2, 3], [1, 1, 1]))
