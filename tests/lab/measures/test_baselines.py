"""A bag of words: Bayes by hand, and no eye for order."""

import math
import random
from collections import Counter
from itertools import product

import pytest

from regard.datasets import Example, Sentiment
from regard.datasets.memory import VALUES, recall_line
from regard.lab.measures.baselines import (
    BagOfWords,
    guess_accuracy,
    most_frequent,
    most_frequent_by_question,
    nearest_captions,
    word_for_word,
)
from regard.text import GoldLinks

TRAINING = [Example("good good film", "up"), Example("bad film", "down"), Example("good bad", "up")]


def test_bayes_by_hand():
    bag = BagOfWords.fit(TRAINING)
    # up: 5 words of 3 kinds, so good 4/8, film 2/8, bad 2/8; down: 2 words, so good 1/5, film 2/5, bad 2/5
    assert bag.log_joint("up", "good film") == pytest.approx(math.log(2 / 3 * 4 / 8 * 2 / 8))
    assert bag.log_joint("down", "good film") == pytest.approx(math.log(1 / 3 * 1 / 5 * 2 / 5))
    assert bag.log_joint("down", "") == pytest.approx(math.log(1 / 3))
    assert bag.log_joint("up", "good unheard") == bag.log_joint("up", "good")


def test_accuracy_is_the_share_of_most_probable_labels():
    bag = BagOfWords.fit(TRAINING)
    examples = [
        Example("good", "up"),
        Example("good", "down"),
        Example("bad bad film", "down"),
        Example("", "up"),
    ]
    assert bag.accuracy(examples) == 3 / 4


def test_the_order_of_words_says_nothing():
    splits = Sentiment().splits(train=100, valid=1, test=50, seed=1)
    rng = random.Random(1)
    mixed = [
        Example(" ".join(rng.sample(e.source.split(), len(e.source.split()))), e.target) for e in splits.test
    ]
    bag = BagOfWords.fit(splits.train)
    assert bag.accuracy(mixed) == bag.accuracy(splits.test)


def test_counting_words_is_little_use_on_reviews_with_two_sides():
    splits = Sentiment().splits(train=2000, valid=1, test=300, seed=1)
    bag = BagOfWords.fit(splits.train)
    # 300 texts: chance lies within 0.06 of a half, two standard errors
    assert abs(bag.accuracy(splits.extra["contrast"]) - 0.5) < 0.06
    assert bag.accuracy(splits.extra["plain"]) > 0.65


def test_each_word_has_a_vote():
    examples = [Example("good good film", "+"), Example("bad film", "-"), Example("film", "-")]
    bag = BagOfWords.fit(examples)
    assert [bag.label(text) for text in ("good", "bad", "film film film", "unheard of")] == [
        "+",
        "-",
        "-",
        "-",
    ]
    # "good film film", one added to each count: 1/3 · 3/6 · (2/6)² for +, 2/3 · 1/6 · (3/6)² for -
    assert bag.label("good film film") == "-"
    assert BagOfWords.fit([Example("film", "b"), Example("film", "a")]).label("film") == "a"


def test_the_most_frequent_and_of_equals_the_first():
    assert most_frequent("abcbc") == "b"
    assert most_frequent_by_question([("x", 1), ("y", 2), ("x", 3), ("x", 3)]) == {"x": 3, "y": 2}


def test_the_nearest_is_by_distance():
    known = [Example("", "left", features=(-1.0, 0.0)), Example("", "far", features=(0.0, 10.0))]
    assert nearest_captions(known, [(-0.5, 4.0), (3.0, 6.0)]) == ["left", "far"]


def test_word_for_word_keeps_the_order_of_the_source_and_leaves_out_what_is_not_linked():
    gold = GoldLinks(frozenset({(0, 0), (1, 2), (2, 1)}))
    pairs = [Example("the red car does", "la voiture rouge", gold=gold)]
    assert word_for_word(pairs, ["the red car does", "a car"]) == ["la rouge voiture", "a voiture"]
    double = Example("not", "ne pas", gold=GoldLinks(frozenset({(0, 1), (0, 0)})))
    assert word_for_word([double], ["not"]) == ["ne pas"]


@pytest.mark.parametrize(("pairs", "values"), [(1, 3), (2, 2), (3, 2), (4, 3), (5, 3)])
def test_it_is_what_counting_every_line_gives(pairs: int, values: int) -> None:
    most = [max(Counter(line).values()) for line in product(range(values), repeat=pairs)]
    assert guess_accuracy(pairs, values) == pytest.approx(100 * sum(most) / (pairs * values**pairs))


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
    assert 100 * right / 20_000 == pytest.approx(guess_accuracy(pairs), abs=4 * 100 * (0.25 / 20_000) ** 0.5)


def test_of_one_pair_it_is_sure_and_of_many_pairs_no_better_than_among_all() -> None:
    assert guess_accuracy(1) == 100
    assert guess_accuracy(2) == pytest.approx(55)
    assert 100 / len(VALUES) < guess_accuracy(100) < guess_accuracy(8) < guess_accuracy(4)
