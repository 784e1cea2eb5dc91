"""Copying and recall: targets follow from the sources, splits share no line, and chance is what the text says."""

import random
from collections import Counter

import pytest

from regard.datasets import Copy, Recall
from regard.datasets.memory import VALUES
from regard.errors import ConfigError


@pytest.fixture(scope="module")
def copy_splits():
    return Copy().splits(train=4000, valid=100, test=400, seed=2)


def test_targets_repeat_their_sources_word_by_word(copy_splits):
    for example in (*copy_splits.train, *copy_splits.extra["long"]):
        assert example.target == example.source
        assert example.gold.sure == {(i, i) for i in range(len(example.source.split()))}


def test_lengths(copy_splits):
    assert {len(e.source.split()) for e in (*copy_splits.train, *copy_splits.test)} == set(range(5, 21))
    long = {len(e.source.split()) for e in copy_splits.extra["long"]}
    assert (min(long), max(long)) == (21, 60)


def test_all_symbols_are_equally_frequent_at_every_position(copy_splits):
    """26 letters of 4,000 strings: about 154 of each at every place, give or take five deviations of 12."""
    for place in range(5):
        counts = Counter(example.source.split()[place] for example in copy_splits.train)
        assert len(counts) == 26
        assert all(abs(count - 4000 / 26) < 62 for count in counts.values())


def test_lengths_and_symbols_can_be_chosen():
    few = Copy().splits(train=50, valid=5, test=5, seed=2, shortest=8, longest=9, symbols=2)
    assert {len(e.source.split()) for e in few.train} == {8, 9}
    assert {word for e in few.train for word in e.source.split()} == {"a", "b"}
    assert max(len(e.source.split()) for e in few.extra["long"]) <= 27


@pytest.mark.parametrize(("shortest", "longest"), [(0, 4), (6, 5)])
def test_impossible_lengths(shortest, longest):
    with pytest.raises(ConfigError, match=f"copy: lengths {shortest} to {longest} cannot be had; choose"):
        Copy().splits(train=1, valid=0, test=0, seed=0, shortest=shortest, longest=longest)


@pytest.mark.parametrize("symbols", [1, 27])
def test_impossible_symbols(symbols):
    with pytest.raises(
        ConfigError, match=f"copy: {symbols} different symbols cannot be had; choose from 2 to 26"
    ):
        Copy().splits(train=1, valid=0, test=0, seed=0, symbols=symbols)


def test_more_strings_than_there_are():
    with pytest.raises(ConfigError, match=r"copy: found \d of 9 examples for 'train'"):
        Copy().splits(train=9, valid=0, test=0, seed=0, shortest=3, longest=3, symbols=2)


@pytest.fixture(scope="module")
def recall_splits():
    return Recall().splits(train=5000, valid=100, test=300, seed=2)


def read(example):
    """Keys, values, and the number of pairs after the queried one."""
    before, queried = example.source.split(" ? ")
    words = [word for word in before.split() if word != "."]
    keys, values = words[::2], words[1::2]
    return keys, values, len(keys) - 1 - keys.index(queried)


def test_the_answer_is_the_value_beside_the_key(recall_splits):
    for part in (recall_splits.train, recall_splits.valid, recall_splits.test, *recall_splits.extra.values()):
        for example in part:
            keys, values, delay = read(example)
            assert len(set(keys)) == len(keys)
            assert all(word[0] == "k" for word in keys)
            assert all(word in VALUES for word in values)
            assert example.target == values[-1 - delay]


def test_pairs_and_delays_of_the_ordinary_splits(recall_splits):
    seen = Counter((len(keys), delay) for keys, _, delay in map(read, recall_splits.train))
    assert set(seen) == {(pairs, delay) for pairs in range(2, 9) for delay in range(pairs)}


def test_extra_splits_by_delay(recall_splits):
    found = {
        name: {(len(keys), delay) for keys, _, delay in map(read, part)}
        for name, part in recall_splits.extra.items()
    }
    assert found["near"] == {(8, 0)}
    assert found["middle"] == {(8, 4)}
    assert found["first"] == {(8, 7)}
    assert found["far"] <= {(pairs, delay) for pairs in range(9, 17) for delay in range(8, pairs)}
    assert len(found["far"]) > 25


def test_chance_is_as_documented(recall_splits):
    """Labels are even, and a guess among the line's own values is right about once per number of pairs."""
    counts = Counter(example.target for example in recall_splits.train)
    assert set(counts) == set(VALUES)
    assert all(abs(count - 500) < 5 * 21.3 for count in counts.values())  # five deviations
    rng = random.Random(0)
    guessed = {pairs: [] for pairs in (2, 8)}
    for example in recall_splits.train:
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
