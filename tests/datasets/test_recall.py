import random
from collections import Counter

import pytest

from regard.datasets import Recall
from regard.datasets.recall import VALUES
from regard.errors import ConfigError


@pytest.fixture(scope="module")
def splits():
    return Recall().splits(train=5000, valid=100, test=300, seed=2)


def read(example):
    """Keys, values, and the number of pairs after the queried one."""
    before, queried = example.source.split(" ? ")
    words = [word for word in before.split() if word != "."]
    keys, values = words[::2], words[1::2]
    return keys, values, len(keys) - 1 - keys.index(queried)


def test_the_answer_is_the_value_beside_the_key(splits):
    for part in (splits.train, splits.valid, splits.test, *splits.extra.values()):
        for example in part:
            keys, values, delay = read(example)
            assert len(set(keys)) == len(keys)
            assert all(word[0] == "k" for word in keys)
            assert all(word in VALUES for word in values)
            assert example.target == values[-1 - delay]


def test_pairs_and_delays_of_the_ordinary_splits(splits):
    seen = Counter((len(keys), delay) for keys, _, delay in map(read, splits.train))
    assert set(seen) == {(pairs, delay) for pairs in range(2, 9) for delay in range(pairs)}


def test_extra_splits_by_delay(splits):
    found = {
        name: {(len(keys), delay) for keys, _, delay in map(read, part)}
        for name, part in splits.extra.items()
    }
    assert found["near"] == {(8, 0)}
    assert found["middle"] == {(8, 4)}
    assert found["first"] == {(8, 7)}
    assert found["far"] <= {(pairs, delay) for pairs in range(9, 17) for delay in range(8, pairs)}
    assert len(found["far"]) > 25


def test_chance_is_as_documented(splits):
    """Labels are even, and a guess among the line's own values is right about once per number of pairs."""
    counts = Counter(example.target for example in splits.train)
    assert set(counts) == set(VALUES)
    assert all(abs(count - 500) < 5 * 21.3 for count in counts.values())  # five deviations
    rng = random.Random(0)
    guessed = {pairs: [] for pairs in (2, 8)}
    for example in splits.train:
        keys, values, _ = read(example)
        if len(keys) in guessed:
            guessed[len(keys)].append(rng.choice(values) == example.target)
    # the pair itself, or another with the same value: 1/n + (n - 1)/n · 1/10
    for pairs, right in guessed.items():
        assert sum(right) / len(right) == pytest.approx(1 / pairs + (pairs - 1) / pairs / 10, abs=0.08)


def test_delay_pairs_and_filler_can_be_set():
    made = Recall().splits(train=200, valid=5, test=5, seed=2, fewest=6, most=6, delay=3, filler=4)
    for example in made.train:
        keys, _, delay = read(example)
        assert (len(keys), delay) == (6, 3)
        assert example.source.count(" .") == 4
        assert " . ? k" in example.source


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fewest": 0}, "0 to 8 pairs cannot be had; choose 1 ≤ fewest ≤ most ≤ 20"),
        ({"fewest": 9}, "9 to 8 pairs cannot be had"),
        ({"most": 21}, "2 to 21 pairs cannot be had"),
        ({"delay": 2}, "a delay of 2 pairs cannot be had in lines of 2 to 8 pairs; choose from 0 to 1"),
        ({"delay": -1}, "a delay of -1 pairs"),
        ({"filler": -1}, "-1 filler symbols cannot be had; choose 0 or more"),
    ],
)
def test_impossible_settings(settings, message):
    with pytest.raises(ConfigError, match=f"recall: {message}"):
        Recall().splits(train=1, valid=0, test=0, seed=0, **settings)


def test_the_extra_splits_are_not_in_the_training_set():
    made = Recall().splits(train=20_000, valid=0, test=60, seed=1, fewest=2, most=2)
    trained = {example.source for example in made.train}
    assert not any(example.source in trained for part in made.extra.values() for example in part)
