"""Who shares a batch: everyone once, within the budgets, the same for equal seeds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.batches import batch_by_length, batch_shuffled
from regard.errors import ConfigError

lengths = st.lists(st.integers(1, 40), max_size=120)
max_sentences = st.integers(1, 12)
max_tokens = st.integers(1, 200)


def check_budgets(batches, lengths, max_sentences, max_tokens):
    for batch in batches:
        assert 1 <= len(batch) <= max_sentences
        # a sentence above the budget by itself has a batch by itself
        assert len(batch) * max(lengths[k] for k in batch) <= max_tokens or len(batch) == 1


@given(lengths, max_sentences, max_tokens)
def test_in_order_of_length(lengths, max_sentences, max_tokens):
    batches = batch_by_length(lengths, max_sentences, max_tokens)
    order = [index for batch in batches for index in batch]
    assert sorted(order) == list(range(len(lengths)))
    assert [lengths[k] for k in order] == sorted(lengths, reverse=True)
    check_budgets(batches, lengths, max_sentences, max_tokens)
    # no batch but the last had room for one more
    for batch in batches[:-1]:
        grown = len(batch) + 1
        assert grown > max_sentences or grown * lengths[batch[0]] > max_tokens


@given(lengths, max_sentences, max_tokens, st.integers(0, 9), st.integers(0, 9))
def test_shuffled(lengths, max_sentences, max_tokens, seed, epoch):
    batches = batch_shuffled(lengths, max_sentences, max_tokens, seed=seed, epoch=epoch)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    check_budgets(batches, lengths, max_sentences, max_tokens)
    assert batches == batch_shuffled(lengths, max_sentences, max_tokens, seed=seed, epoch=epoch)


def test_epochs_and_seeds_have_orders_of_their_own():
    lengths = [1 + k % 7 for k in range(200)]
    orders = {
        (seed, epoch): str(batch_shuffled(lengths, 8, 1000, seed=seed, epoch=epoch))
        for seed in (1, 2)
        for epoch in (1, 2)
    }
    assert len(set(orders.values())) == 4


def test_companions_are_neighbours_in_length():
    lengths = [1 + (k * 37) % 60 for k in range(600)]
    padded = sum(
        len(batch) * max(lengths[k] for k in batch)
        for batch in batch_shuffled(lengths, 20, 10**6, seed=0, epoch=0)
    )
    assert padded < 1.05 * sum(lengths), "at most a twentieth is padding"


def test_batches_do_not_come_in_order_of_length():
    lengths = [1 + k % 50 for k in range(1000)]
    longest = [
        max(lengths[k] for k in batch) for batch in batch_shuffled(lengths, 20, 10**6, seed=0, epoch=0)
    ]
    assert longest != sorted(longest)
    assert longest != sorted(longest, reverse=True)


@pytest.mark.parametrize(("sentences", "tokens", "named"), [(0, 1, "max_sentences"), (1, 0, "max_tokens")])
def test_a_budget_of_nothing_is_refused(sentences, tokens, named):
    with pytest.raises(ConfigError, match=f"{named}: 0 .*at least 1"):
        batch_by_length([1], sentences, tokens)
    with pytest.raises(ConfigError, match=f"{named}: 0 .*at least 1"):
        batch_shuffled([1], sentences, tokens, seed=0, epoch=0)
