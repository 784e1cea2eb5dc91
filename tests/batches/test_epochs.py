"""The order of an epoch: every example once, by length within windows, the same for equal arguments."""

import itertools

import numpy as np
import pytest

from regard.batches.epochs import EpochPlan, Groups, Mixture, Permutation, cut_sorted
from regard.batches.pad import batch_by_length
from regard.errors import ConfigError

SIZES = (0, 1, 2, 3, 4, 5, 15, 16, 17, 99, 100, 101, 1000, 4097)


@pytest.mark.parametrize("size", SIZES)
def test_a_permutation_has_every_number_once(size):
    images = Permutation(size, seed=3, epoch=5)(np.arange(size))
    assert sorted(images.tolist()) == list(range(size))


def test_a_permutation_is_a_function_of_one_number():
    permutation = Permutation(1000, seed=1, epoch=0)
    whole = permutation(np.arange(1000))
    assert [int(permutation(np.array([k]))[0]) for k in range(1000)] == whole.tolist()


def test_seeds_and_epochs_have_their_own_orders():
    orders = {
        tuple(Permutation(50, seed, epoch)(np.arange(50)).tolist()) for seed in range(9) for epoch in range(9)
    }
    assert len(orders) == 81


def test_a_permutation_looks_random():
    size = 10_000
    images = np.concatenate([Permutation(size, seed, 0)(np.arange(size)) for seed in range(4)]).reshape(
        4, size
    )
    # the correlation of a random permutation has a deviation of 1/√n: 0.01
    for row in images:
        assert abs(np.corrcoef(np.arange(size), row)[0, 1]) < 0.05
        assert abs(np.corrcoef(row[:-1], row[1:])[0, 1]) < 0.05
    # a hundred windows of a hundred: a quarter of each from every quarter of the examples, 25 ± 4.3
    counts = np.array(
        [[np.sum(window // 2500 == q) for q in range(4)] for window in images[0].reshape(100, 100)]
    )
    assert counts.min() >= 8
    assert counts.max() <= 45
    assert 3.5 < counts.std() < 5.2


def plan(lengths, sentences=4, tokens=40, seed=1, epoch=0):
    return EpochPlan(np.array(lengths, np.int32), sentences, tokens, seed=seed, epoch=epoch)


def random_lengths(count, seed=0):
    return np.random.default_rng(seed).integers(1, 30, count)


@pytest.mark.parametrize("count", [0, 1, 3, 399, 400, 401, 1234])
def test_an_epoch_has_every_example_once_within_the_limits(count):
    lengths = random_lengths(count)
    batches = plan(lengths)
    assert sorted(k for batch in batches for k in batch) == list(range(count))
    assert len(list(batches)) == len(batches)
    for batch in batches:
        assert len(batch) <= 4
        assert len(batch) == 1 or len(batch) * max(lengths[batch]) <= 40


def test_a_batch_by_its_number_is_that_of_the_whole_epoch():
    batches = plan(random_lengths(1234))
    whole = list(batches)
    order = np.random.default_rng(0).permutation(len(whole))
    assert [batches[int(k)] for k in order] == [whole[k] for k in order]
    assert batches[3:9:2] == whole[3:9:2]
    assert batches[-1] == whole[-1]
    with pytest.raises(IndexError):
        batches[len(whole)]


def test_equal_arguments_give_equal_batches_and_epochs_differ():
    lengths = random_lengths(500)
    assert list(plan(lengths)) == list(plan(lengths))
    assert list(plan(lengths)) != list(plan(lengths, epoch=1))
    assert list(plan(lengths)) != list(plan(lengths, seed=2))


def test_neighbours_in_length_share_a_batch():
    lengths = random_lengths(4000)
    spread = [max(lengths[batch]) - min(lengths[batch]) for batch in plan(lengths)]
    assert np.mean(spread) < 1  # of 29, at random about 17


def test_batches_do_not_come_by_length():
    lengths = random_lengths(4000)
    longest = [max(lengths[batch]) for batch in plan(lengths)][:100]
    assert sum(a > b for a, b in itertools.pairwise(longest)) > 25


@pytest.mark.parametrize(("sentences", "tokens"), [(1, 1), (3, 10_000), (1000, 50), (7, 31)])
def test_cutting_agrees_with_the_plain_loop(sentences, tokens):
    lengths = np.sort(random_lengths(300))
    edges = cut_sorted(lengths, sentences, tokens)
    # that loop is over falling lengths, so each of its batches begins with its longest
    falling = batch_by_length(list(lengths[::-1]), sentences, tokens)
    for start, end in itertools.pairwise(edges):
        assert end - start == 1 or (end - start <= sentences and (end - start) * lengths[end - 1] <= tokens)
        if end < len(lengths):  # and one more would not fit
            assert end - start == sentences or (end - start + 1) * lengths[end] > tokens
    assert edges[-1] == len(lengths) == sum(map(len, falling))


def test_limits_below_one_are_refused():
    with pytest.raises(ConfigError, match="max_sentences"):
        plan([1, 2], sentences=0)
    with pytest.raises(ConfigError, match="max_tokens"):
        plan([1, 2], tokens=0)


def test_a_mixture_has_each_range_as_often_as_its_weight_says():
    mixture = Mixture([4, 10, 3], [3, 0.5, 1])
    assert len(mixture) == 12 + 5 + 3
    epochs = [mixture(np.arange(20), epoch).tolist() for epoch in (0, 1)]
    for examples in epochs:
        assert all(examples.count(k) == 3 for k in range(4))
        assert sum(4 <= k < 14 for k in examples) == 5
        assert all(examples.count(k) == 1 for k in range(14, 17))
    # the two halves of the second range are in two epochs
    assert sorted(k for examples in epochs for k in examples if 4 <= k < 14) == list(range(4, 14))


def test_an_epoch_of_a_mixture_has_its_examples():
    lengths = random_lengths(17)
    mixture = Mixture([4, 10, 3], [3, 0.5, 1])
    batches = EpochPlan(lengths.astype(np.int32), 4, 60, seed=1, epoch=2, mixture=mixture)
    assert sorted(k for batch in batches for k in batch) == sorted(mixture(np.arange(20), 2).tolist())


def test_weights_of_one_change_nothing():
    lengths = random_lengths(500).astype(np.int32)
    mixed = EpochPlan(lengths, 4, 60, seed=1, epoch=2, mixture=Mixture([200, 300], [1, 1]))
    assert list(mixed) == list(EpochPlan(lengths, 4, 60, seed=1, epoch=2))


@pytest.mark.parametrize("size", [1, 3, 50])
def test_groups_are_the_batches_in_order(size):
    batches = plan(random_lengths(100))
    groups = Groups(batches, size)
    assert [batch for group in groups for batch in group] == list(batches)
    assert {len(group) for group in groups[:-1]} <= {size}
    assert len(groups) == -(-len(batches) // size)
