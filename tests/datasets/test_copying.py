from collections import Counter

import pytest

from regard.datasets import Copy
from regard.errors import ConfigError


@pytest.fixture(scope="module")
def splits():
    return Copy().splits(train=4000, valid=100, test=400, seed=2)


def test_targets_repeat_their_sources_word_by_word(splits):
    for example in (*splits.train, *splits.extra["long"]):
        assert example.target == example.source
        assert example.gold.sure == {(i, i) for i in range(len(example.source.split()))}


def test_lengths(splits):
    assert {len(e.source.split()) for e in (*splits.train, *splits.test)} == set(range(5, 21))
    long = {len(e.source.split()) for e in splits.extra["long"]}
    assert (min(long), max(long)) == (21, 60)


def test_all_symbols_are_equally_frequent_at_every_position(splits):
    """26 letters of 4,000 strings: about 154 of each at every place, give or take five deviations of 12."""
    for place in range(5):
        counts = Counter(example.source.split()[place] for example in splits.train)
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
