import re
from itertools import pairwise

import pytest

from regard.datasets import Scenes
from regard.datasets.scenes import HELD_OUT, MOST_NOISE, Group, write_caption
from regard.errors import ConfigError

COLOURS = {
    "red": (1, -1, -1),
    "green": (-1, 1, -1),
    "blue": (-1, -1, 1),
    "yellow": (1, 1, -1),
    "orange": (1, 0, -1),
    "purple": (0, -1, 0),
    "black": (-1, -1, -1),
    "white": (1, 1, 1),
}
SHAPES = ("circle", "square", "triangle", "star", "ring")


def put_into_words(features):
    """The description by reading the numbers by their names, in the plainest way."""
    named = dict(zip(Scenes.feature_names, features, strict=True))
    groups = []
    for which in ("first", "second", "third"):
        own = {name.split()[1]: value for name, value in named.items() if name.startswith(which)}
        if own["present"] > 0:
            mixture = [own[part] for part in ("red", "green", "blue")]
            colour = min(
                COLOURS, key=lambda c: sum((a - b) ** 2 for a, b in zip(COLOURS[c], mixture, strict=True))
            )
            count = round((own["count"] + 1) * 1.5) + 1
            shape = max(SHAPES, key=own.__getitem__)
            groups.append((count, "large" if own["size"] > 0 else "small", colour, shape, own["x"], own["y"]))
    words = [phrase(groups[0])]
    if len(groups) == 1:
        words.append(place(*groups[0][4:]))
    for one, other in pairwise(groups):
        if one is groups[1]:
            words += [",", "which", "is" if one[0] == 1 else "are"]
        words += [seen_from(one, other), phrase(other)]
    return " ".join([*words, "."])


def phrase(group):
    count, size, colour, shape, *_ = group
    number = ("a", "two", "three", "four")[count - 1]
    return f"{number} {size} {colour} {shape}" + ("s" if count > 1 else "")


def place(x, y):
    column = "left" if x < -1 / 3 else "right" if x > 1 / 3 else ""
    row = "bottom" if y < -1 / 3 else "top" if y > 1 / 3 else ""
    if row and column:
        return f"in the {row} {column} corner"
    return f"at the {row or column}" if row or column else "in the middle"


def seen_from(one, other):
    x, y = one[4] - other[4], one[5] - other[5]
    if abs(y) > abs(x):
        return "above" if y > 0 else "below"
    return "to the right of" if x > 0 else "to the left of"


@pytest.mark.parametrize("noise", [0.0, 0.05, MOST_NOISE])
def test_the_numbers_say_all_that_is_in_the_words(noise):
    splits = Scenes().splits(train=3000, valid=50, test=300, seed=1, noise=noise)
    for example in (*splits.train, *splits.valid, *splits.test, *splits.extra["unseen"]):
        assert put_into_words(example.features) == example.target


@pytest.fixture(scope="module")
def splits():
    return Scenes().splits(train=8000, valid=200, test=300, seed=1)


def test_features_are_named_and_of_one_size(splits):
    assert len(Scenes.feature_names) == len(set(Scenes.feature_names)) == 39
    for example in splits.train:
        assert len(example.features) == 39
        assert max(map(abs, example.features)) <= 1.05
        assert all(round(number, 4) == number for number in example.features)


def test_noise_moves_every_number():
    clean, noisy = (
        Scenes().splits(train=1, valid=0, test=0, seed=1, noise=noise).train[0] for noise in (0, 0.05)
    )
    assert clean.target == noisy.target
    moved = [abs(a - b) for a, b in zip(clean.features, noisy.features, strict=True)]
    assert max(moved) <= 0.0501
    assert sum(move > 0.001 for move in moved) > 30


def test_no_caption_is_in_two_splits(splits):
    parts = [
        {e.target for e in part} for part in (splits.train, splits.valid, splits.test, splits.extra["unseen"])
    ]
    assert len(set.union(*parts)) == sum(map(len, parts))


def test_pairs_kept_apart_are_in_unseen_alone_and_there_always(splits):
    held = re.compile("|".join(f"{colour} {shape}" for colour, shape in sorted(HELD_OUT)))
    assert not any(held.search(e.target) for e in (*splits.train, *splits.valid, *splits.test))
    assert all(held.search(e.target) for e in splits.extra["unseen"])
    words = {word for e in splits.train for word in e.target.split()}
    for colour, shape in HELD_OUT:
        assert {colour, shape} <= words


def test_all_that_was_promised_occurs(splits):
    lines = [example.target for example in splits.train]
    for wording in (
        "above", "below", "to the left of", "to the right of", "which is", "which are", "in the middle", "at the top",
        "at the left", "at the bottom", "at the right", "top left corner", "bottom right corner", "top right corner",
    ):  # fmt: skip
        assert sum(wording in line for line in lines) > 20, wording


def test_agreement_and_relations_of_a_scene_set_by_hand():
    circles = Group(2, -0.5, "red", "circle", 0.0, 0.9)
    square = Group(1, 0.8, "blue", "square", 0.1, -0.5)
    stars = Group(4, 0.8, "white", "star", 0.9, -0.4)
    assert write_caption((circles, square)) == "two small red circles above a large blue square ."
    assert write_caption((square, circles)) == "a large blue square below two small red circles ."
    assert (
        write_caption((circles, square, stars))
        == "two small red circles above a large blue square , which is to the left of four large white stars ."
    )
    assert write_caption((square, stars, circles)).count("which are below two small red circles") == 1
    assert write_caption((stars,)) == "four large white stars in the bottom right corner ."


@pytest.mark.parametrize("noise", [-0.01, 0.11])
def test_too_much_noise_is_refused(noise):
    with pytest.raises(ConfigError, match=f"scenes: noise of {noise} cannot be had; choose from 0 to 0.1"):
        Scenes().splits(train=1, valid=0, test=0, seed=0, noise=noise)
