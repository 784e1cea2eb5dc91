"""The validation split: a fraction of every kind, whole, the same each time."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.tasks.train_valid_split import split_indices

LABELS = ["x"] * 400 + ["y"] * 100 + ["z"] * 3


def test_one_in_twenty_of_every_kind():
    train, valid = split_indices(range(503), 1, LABELS)
    assert Counter(LABELS[k] for k in valid) == {"x": 20, "y": 5, "z": 1}
    assert sorted(train + valid) == list(range(503))
    assert train == sorted(train)
    assert valid == sorted(valid)


def test_the_seed_chooses():
    assert split_indices(range(503), 1, LABELS) == split_indices(range(503), 1, LABELS)
    assert split_indices(range(503), 1, LABELS) != split_indices(range(503), 2, LABELS)


def test_a_thousand_at_most():
    assert len(split_indices(range(50_000), 1)[1]) == 1000
    halves = ["a", "b"] * 25_000
    assert Counter(halves[k] for k in split_indices(range(50_000), 1, halves)[1]) == {"a": 500, "b": 500}


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("xyz")), min_size=1), st.integers())
def test_equal_contents_stay_together(examples, seed):
    contents, kinds = [one for one, _ in examples], [kind for _, kind in examples]
    first = {content: kinds[contents.index(content)] for content in contents}
    several = {kind for kind, count in Counter(first.values()).items() if count > 1}
    if not several:
        with pytest.raises(DataError, match=rf"^{len(examples)} examples? (is|are) too few to train"):
            split_indices(contents, seed, kinds)
        return
    train, valid = split_indices(contents, seed, kinds)
    assert sorted(train + valid) == list(range(len(contents)))
    assert not {contents[k] for k in train} & {contents[k] for k in valid}
    # every kind with several contents is in both parts, and one with a single content is in training
    assert {first[contents[k]] for k in valid} == several
    assert {first[contents[k]] for k in train} == set(first.values())


def test_kinds_with_one_content_each_are_ignored_where_there_are_twenty():
    train, valid = split_indices(range(22), 1, range(22))
    assert (len(train), len(valid)) == (21, 1)
    assert len(split_indices(range(60), 1, range(60))[1]) == 3
    with pytest.raises(
        DataError, match=r"^19 examples are .* with: no kind has two different ones; give more"
    ):
        split_indices(range(19), 1, range(19))


def test_too_few_in_plain_words():
    with pytest.raises(DataError, match=r"^1 example is too few to train and to validate with; give more"):
        split_indices(["a"], 1)
    with pytest.raises(
        DataError, match=r"^3 examples are too few .* with: all have the same content; give more"
    ):
        split_indices(["a"] * 3, 1)
    with pytest.raises(DataError, match=r"^an empty corpus: 1 example, all of them empty"):
        split_indices([""], 1)
