"""What is set aside: a share of every kind, whole, the same each time."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.tasks.train_valid_split import choose_valid

LABELS = ["x"] * 400 + ["y"] * 100 + ["z"] * 3


def test_one_in_twenty_of_every_kind():
    kept, aside = choose_valid(range(503), 1, LABELS)
    assert Counter(LABELS[k] for k in aside) == {"x": 20, "y": 5, "z": 1}
    assert sorted(kept + aside) == list(range(503))
    assert kept == sorted(kept)
    assert aside == sorted(aside)


def test_the_seed_chooses():
    assert choose_valid(range(503), 1, LABELS) == choose_valid(range(503), 1, LABELS)
    assert choose_valid(range(503), 1, LABELS) != choose_valid(range(503), 2, LABELS)


def test_a_thousand_at_most():
    assert len(choose_valid(range(50_000), 1)[1]) == 1000
    halves = ["a", "b"] * 25_000
    assert Counter(halves[k] for k in choose_valid(range(50_000), 1, halves)[1]) == {"a": 500, "b": 500}


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("xyz")), min_size=1), st.integers())
def test_equal_contents_stay_together(examples, seed):
    contents, kinds = [one for one, _ in examples], [kind for _, kind in examples]
    first = {content: kinds[contents.index(content)] for content in contents}
    several = {kind for kind, count in Counter(first.values()).items() if count > 1}
    if not several:
        with pytest.raises(DataError, match=rf"^{len(examples)} examples? (is|are) too few to learn from"):
            choose_valid(contents, seed, kinds)
        return
    kept, aside = choose_valid(contents, seed, kinds)
    assert sorted(kept + aside) == list(range(len(contents)))
    assert not {contents[k] for k in kept} & {contents[k] for k in aside}
    # every kind that says several things is on both sides, and one that does not is kept
    assert {first[contents[k]] for k in aside} == several
    assert {first[contents[k]] for k in kept} == set(first.values())


def test_kinds_of_one_thing_each_are_not_heeded_where_there_are_twenty():
    kept, aside = choose_valid(range(22), 1, range(22))
    assert (len(kept), len(aside)) == (21, 1)
    assert len(choose_valid(range(60), 1, range(60))[1]) == 3
    with pytest.raises(
        DataError, match=r"^19 examples are .* with, for no kind has two different ones; give more"
    ):
        choose_valid(range(19), 1, range(19))


def test_too_few_in_plain_words():
    with pytest.raises(
        DataError, match=r"^1 example is too few to learn from and to validate with; give more"
    ):
        choose_valid(["a"], 1)
    with pytest.raises(DataError, match=r"^3 examples are too few .* with, for all say the same; give more"):
        choose_valid(["a"] * 3, 1)
    with pytest.raises(DataError, match=r"^an empty corpus: 1 example, and nothing"):
        choose_valid([""], 1)
