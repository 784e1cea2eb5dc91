"""A bag of words: Bayes by hand, and no eye for order."""

import math
import random

import pytest

from regard.datasets import Example, Sentiment
from regard.lab.measures.shaped import BagOfWords

LEARNT = [Example("good good film", "up"), Example("bad film", "down"), Example("good bad", "up")]


def test_bayes_by_hand():
    bag = BagOfWords.learn(LEARNT)
    # up: 5 words of 3 kinds, so good 4/8, film 2/8, bad 2/8; down: 2 words, so good 1/5, film 2/5, bad 2/5
    assert bag.log_joint("up", "good film") == pytest.approx(math.log(2 / 3 * 4 / 8 * 2 / 8))
    assert bag.log_joint("down", "good film") == pytest.approx(math.log(1 / 3 * 1 / 5 * 2 / 5))
    assert bag.log_joint("down", "") == pytest.approx(math.log(1 / 3))
    assert bag.log_joint("up", "good unheard") == bag.log_joint("up", "good")


def test_accuracy_is_the_share_of_likeliest_labels():
    bag = BagOfWords.learn(LEARNT)
    asked = [
        Example("good", "up"),
        Example("good", "down"),
        Example("bad bad film", "down"),
        Example("", "up"),
    ]
    assert bag.accuracy(asked) == 3 / 4


def test_the_order_of_words_says_nothing():
    splits = Sentiment().splits(train=100, valid=1, test=50, seed=1)
    rng = random.Random(1)
    mixed = [
        Example(" ".join(rng.sample(e.source.split(), len(e.source.split()))), e.target) for e in splits.test
    ]
    bag = BagOfWords.learn(splits.train)
    assert bag.accuracy(mixed) == bag.accuracy(splits.test)


def test_counting_words_is_little_use_on_reviews_with_two_sides():
    splits = Sentiment().splits(train=2000, valid=1, test=300, seed=1)
    bag = BagOfWords.learn(splits.train)
    # 300 texts: chance lies within 0.06 of a half, two standard errors
    assert abs(bag.accuracy(splits.extra["contrast"]) - 0.5) < 0.06
    assert bag.accuracy(splits.extra["plain"]) > 0.65


def test_each_word_has_a_vote():
    examples = [Example("good good film", "+"), Example("bad film", "-"), Example("film", "-")]
    bag = BagOfWords.learn(examples)
    assert [bag.label(text) for text in ("good", "bad", "film film film", "unheard of")] == [
        "+",
        "-",
        "-",
        "-",
    ]
    # "good film film", one added to each count: 1/3 · 3/6 · (2/6)² for +, 2/3 · 1/6 · (3/6)² for -
    assert bag.label("good film film") == "-"
    assert BagOfWords.learn([Example("film", "b"), Example("film", "a")]).label("film") == "a"
