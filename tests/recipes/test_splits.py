from hypothesis import given
from hypothesis import strategies as st

from regard.recipes.splits import fold, split_groups

pairs = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=60, unique=True)


def both(line):
    first, second = line.split()
    return [("first", first), ("second", second)]


@given(pairs, st.integers(0, 3))
def test_no_two_parts_share_a_key_and_nothing_is_lost(numbers, seed):
    lines = [f"{first} {second}" for first, second in numbers]
    split = split_groups(lines, both, num_valid=5, num_test=10, seed=seed)
    parts = [split.train, split.valid, split.test]
    assert sorted(line for part in parts for line in part) == sorted(lines)
    keys = [{key for line in part for key in both(line)} for part in parts]
    assert sum(map(len, keys)) == len(set.union(*keys))


def test_the_sizes_are_those_wanted_and_a_large_group_is_trained_on():
    lines = [f"x {k}" for k in range(50)] + [f"{k} a{k}" for k in range(1000)]
    for seed in range(20):
        split = split_groups(lines, both, num_valid=20, num_test=200, seed=seed)
        assert (len(split.valid), len(split.test), len(split.train)) == (20, 200, 830)
        assert set(lines[:50]) <= set(split.train)
    split = split_groups(lines, both, num_valid=20, num_test=200, seed=1)
    assert split == split_groups(lines, both, num_valid=20, num_test=200, seed=1)
    assert split.test != split_groups(lines, both, num_valid=20, num_test=200, seed=2).test


def test_lines_that_share_a_key_through_others_are_one_group():
    lines = ["a 1", "b 2", "a 2", *(f"c{k} d{k}" for k in range(20))]
    for seed in range(10):
        split = split_groups(lines, both, num_valid=1, num_test=1, seed=seed)
        assert {"a 1", "b 2", "a 2"} <= set(split.train)


def test_folds_are_a_partition_of_almost_equal_parts():
    lines = [str(k) for k in range(25)]
    folds = fold(lines, 10, seed=1)
    assert sorted(len(each) for each in folds) == [2] * 5 + [3] * 5
    assert sorted(line for each in folds for line in each) == sorted(lines)
    assert folds == fold(lines, 10, seed=1) != fold(lines, 10, seed=2)
