import re
from collections import Counter

import numpy as np
import pytest

from regard.datasets import Sentiment
from regard.datasets.sentiment import LABELS


@pytest.fixture(scope="module")
def splits():
    return Sentiment().splits(train=5000, valid=100, test=1000, seed=1)


def counts(examples, places):
    """A row of word counts per sentence, and a last column of ones."""
    table = np.zeros((len(examples), len(places) + 1))
    table[:, -1] = 1
    for row, example in enumerate(examples):
        for word in example.source.split():
            if word in places:
                table[row, places[word]] += 1
    return table, np.array([LABELS.index(example.target) for example in examples])


def fit(table, labels, penalty):
    """Logistic regression by Newton's method, until it stands still."""
    weights = np.zeros(table.shape[1])
    for _ in range(30):
        chances = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (chances - labels) + penalty * weights
        bend = (table * (chances * (1 - chances))[:, None]).T @ table + penalty * np.eye(len(weights))
        step = np.linalg.solve(bend, slope)
        weights -= step
        if np.abs(step).max() < 1e-8:
            return weights
    raise AssertionError("did not converge")


@pytest.fixture(scope="module")
def accuracies(splits):
    words = sorted({word for example in splits.train for word in example.source.split()})
    places = {word: place for place, word in enumerate(words)}
    table, labels = counts(splits.train, places)
    found = []
    for penalty in (0.1, 10.0):
        weights = fit(table, labels, penalty)
        sets = {"train": splits.train, "test": splits.test, **splits.extra}
        scores = {}
        for name, part in sets.items():
            rows, right = counts(part, places)
            scores[name] = np.mean((rows @ weights > 0) == right)
        found.append(scores)
    return found


def test_counting_words_fails(accuracies):
    for found in accuracies:
        assert 0.55 < found["test"] < 0.72, found
        assert found["train"] < 0.75, found


def test_the_extra_splits_show_what_is_hard(accuracies):
    for found in accuracies:
        assert found["plain"] > found["negation"] > found["contrast"], found
        assert found["contrast"] < 0.6, found


def test_labels_are_even(splits):
    for part in (splits.train, splits.test, *splits.extra.values()):
        positive = sum(example.target == "positive" for example in part) / len(part)
        assert abs(positive - 0.5) < 2.5 / len(part) ** 0.5  # five deviations
    assert {example.target for example in splits.train} == set(LABELS)


def test_kinds(splits):
    contrasting = re.compile(r"\b(but|although|even though|nevertheless|and yet|despite|for all its)\b")
    assert set(splits.extra) == {"plain", "negation", "contrast"}
    for example in splits.extra["contrast"]:
        assert contrasting.search(example.source), example.source
    for kind in ("plain", "negation"):
        for example in splits.extra[kind]:
            assert not contrasting.search(example.source.replace("anything but", "")), example.source
    denying = re.compile(
        r"\b(not|never|nobody|no|hardly|cannot|anything|far|nothing|wrong|disagree|free|less)\b"
    )
    assert not any(denying.search(example.source) for example in splits.extra["plain"])


def test_there_is_much_to_read(splits):
    words = Counter(word for example in splits.train for word in example.source.split())
    assert len(words) > 380
    assert np.mean([len(example.source.split()) for example in splits.train]) > 12
