"""Steps between a word and its counterpart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.datasets import Example
from regard.datasets.microworld import Microworld
from regard.lab.measures.aligners import lags, mean_lags
from regard.text import GoldLinks


def test_by_hand() -> None:
    """Of three words read forwards, the first waits for two words, the end mark and the writing of its own."""
    links = [(2, 1), (0, 0), (1, 2)]
    assert lags(links, 3, reverse=False) == [4, 3, 5]
    assert lags(links, 3, reverse=True) == [1, 4, 4]


@given(st.integers(1, 40))
def test_in_order_every_lag_is_the_same_forwards_and_grows_backwards(words: int) -> None:
    """The mean is the same but for the end mark, which is the paper's point: only the least lag shrinks."""
    links = [(i, i) for i in range(words)]
    there, back = lags(links, words, reverse=False), lags(links, words, reverse=True)
    assert there == [words + 1] * words
    assert back == list(range(1, 2 * words, 2))
    assert sum(there) - sum(back) == words


@given(st.sets(st.tuples(st.integers(0, 11), st.integers(0, 11))))
def test_reading_the_mirrored_source_backwards_is_reading_it_forwards(links: set[tuple[int, int]]) -> None:
    """But for the end mark, which is read last forwards and first backwards."""
    mirrored = [(11 - j, i) for j, i in links]
    there = lags(links, 12, reverse=False)
    assert sorted(there) == sorted(lag + 1 for lag in lags(mirrored, 12, reverse=True))


def test_the_mean_lag_hardly_changes_and_the_least_does() -> None:
    """Each sentence's own lags, counted link by link."""
    examples = Microworld().splits(train=0, valid=0, test=40, seed=2, longest=10).test
    there, back = mean_lags(examples, reverse=False), mean_lags(examples, reverse=True)
    counted = [
        [len(e.source.split()) - j + i + 1 for j, i in e.gold.sure]
        for e in examples
        if e.gold and e.gold.sure
    ]
    assert there["mean"] == pytest.approx(sum(map(sum, counted)) / sum(map(len, counted)))
    assert there["least"] == pytest.approx(sum(map(min, counted)) / len(counted))
    assert abs(there["mean"] - back["mean"]) < 2
    assert back["least"] < there["least"] / 2


def test_a_pair_without_sure_links_is_passed_over() -> None:
    linked, bare = (
        Example("a b", "x y", GoldLinks(frozenset({(0, 1), (1, 0)}))),
        Example("a", "x", GoldLinks(frozenset())),
    )
    assert mean_lags([linked, bare], reverse=True) == {"mean": 2.0, "least": 2.0}
    assert mean_lags([linked, bare], reverse=False) == {"mean": 3.0, "least": 2.0}
