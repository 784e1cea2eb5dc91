"""A guess without keys: by counting cleverly, by counting every line, and by drawing lines."""

import random
from collections import Counter
from itertools import product

import pytest

from regard.datasets.recall import VALUES, recall_line
from regard.lab.measures.passage import guess


@pytest.mark.parametrize(("pairs", "values"), [(1, 3), (2, 2), (3, 2), (4, 3), (5, 3)])
def test_it_is_what_counting_every_line_gives(pairs: int, values: int) -> None:
    most = [max(Counter(line).values()) for line in product(range(values), repeat=pairs)]
    assert guess(pairs, values) == pytest.approx(100 * sum(most) / (pairs * values**pairs))


@pytest.mark.parametrize("pairs", [4, 8])
def test_it_is_how_often_the_commonest_value_is_right(pairs: int) -> None:
    rng = random.Random(1)
    right = 0
    for _ in range(20_000):
        line = recall_line(rng, pairs, rng.randrange(pairs))
        words = line.source.split()
        ((commonest, _),) = Counter(words[1 : 2 * pairs : 2]).most_common(1)
        right += commonest == line.target
    # four standard errors of 20,000 questions
    assert 100 * right / 20_000 == pytest.approx(guess(pairs), abs=4 * 100 * (0.25 / 20_000) ** 0.5)


def test_of_one_pair_it_is_sure_and_of_many_pairs_no_better_than_among_all() -> None:
    assert guess(1) == 100
    assert guess(2) == pytest.approx(55)
    assert 100 / len(VALUES) < guess(100) < guess(8) < guess(4)
