"""Hidden Markov models of alignment: what they learn from pairs made by hand."""

import random

import pytest
import torch

from regard.batches.pad import pad_word_ids
from regard.models.alignment_hmm import (
    HmmConfig,
    add_regular,
    estimate_hmm,
    jump_ranges,
    smooth_jumps,
)


def test_short_jumps_are_ranges_of_their_own_and_long_ones_share():
    ranges = jump_ranges(20)
    by_jump = dict(zip(range(-20, 21), ranges, strict=True))
    assert ranges == sorted(ranges)
    assert ranges[0] == 0
    assert set(ranges) == set(range(max(ranges) + 1))
    assert len({by_jump[jump] for jump in range(-5, 6)}) == 11
    assert by_jump[18] == by_jump[20]
    assert by_jump[6] != by_jump[12]
    assert by_jump[-18] == by_jump[-20]
    assert jump_ranges(2) == [0, 1, 2, 3, 4]


def test_jumps_of_a_word_are_smoothed_by_those_of_all():
    """τ = 2: the word that was seen four times keeps two thirds of its own, one never seen has those of all."""
    counts = torch.tensor([[4.0, 0.0], [0.0, 0.0], [0.0, 12.0]])
    all_words = torch.tensor([4.01, 12.01]) / 16.02
    found = smooth_jumps(counts, 2.0)
    expected = torch.stack(((counts[0] + 2 * all_words) / 6, all_words, (counts[2] + 2 * all_words) / 14))
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(found.sum(dim=1), torch.ones(3))
    torch.testing.assert_close(smooth_jumps(counts, 1e9)[0], all_words)


def test_links_of_one_direction_count_where_they_are_regular():
    agreed = torch.tensor([3.0, 0.0, 0.0, 1.0])
    alone = torch.tensor([7.0, 19.0, 4.0, 20.0])
    occurrences = torch.tensor([10, 100, 5, 100])  # too rarely in 100 times; too few in all
    assert add_regular(agreed, alone, occurrences, 0.2).tolist() == [10.0, 0.0, 0.0, 21.0]


def one_to_two(count):
    """Word 1 becomes words 8 and 9, of which 9 also follows word 2; other words keep their names."""
    rng, pairs = random.Random(0), []
    for _ in range(count):
        source = rng.sample(range(2, 8), 3)
        if rng.random() < 0.5:
            source.insert(rng.randrange(4), 1)
        pairs.append((source, [y for x in source for y in {1: (8, 9), 2: (2, 9)}.get(x, (x,))]))
    return pairs


@pytest.mark.parametrize(("regular", "linked"), [(0.2, True), (0.0, False)])
def test_a_word_that_regularly_becomes_two_is_linked_to_both(regular, linked):
    """In both directions; that number 1 is a frequent word of the other side does not matter."""
    pairs = one_to_two(400) + [([0], [1])] * 2000
    config, new = HmmConfig(regular=regular), ([3, 1, 4], [3, 8, 9, 4])
    there = estimate_hmm(pairs, 10, 10, config)(pad_word_ids([new])).forward[0]
    flipped = [(target, source) for source, target in pairs]
    back = estimate_hmm(flipped, 10, 10, config)(pad_word_ids([new[::-1]])).backward[0].T
    for alpha in (there, back):
        assert alpha[1, 1] > 0.9
        assert bool(alpha[2, 1] > 0.7) is linked


def moved_back(count):
    """Words in order, but for word 1, which its translation moves before the word that precedes it."""
    rng, pairs = random.Random(0), []
    for _ in range(count):
        source = [rng.randrange(2, 30) for _ in range(5)]
        target = list(source)
        if rng.random() < 0.3:
            place = rng.randrange(1, 5)
            source[place] = target[place] = 1
            target[place - 1], target[place] = target[place], target[place - 1]
        pairs.append((source, target))
    return pairs


def test_jumps_depend_on_the_word_that_is_left():
    """From word 1 the next word is the one before it, and from others the one after."""
    pairs = moved_back(600)
    own = estimate_hmm(pairs, 31, 31, HmmConfig(jump_prior=1.0, longest_jump=4)).forward_jumps
    shared = estimate_hmm(pairs, 31, 31, HmmConfig(jump_prior=1e9, longest_jump=4)).forward_jumps
    back, on = 4 - 1, 4 + 1
    assert own[1, back] > 0.8
    assert own[7, on] > 0.5
    torch.testing.assert_close(shared[1], shared[7])


def test_null_has_the_words_of_the_text_unless_it_learns_them():
    pairs = one_to_two(50)
    words = torch.bincount(torch.tensor([word for _, target in pairs for word in target]), minlength=10)
    kept = estimate_hmm(pairs, 10, 10, HmmConfig()).forward_null
    torch.testing.assert_close(kept, words / words.sum())
    learned = estimate_hmm(pairs, 10, 10, HmmConfig(learn_null=True)).forward_null
    assert (learned - kept).abs().max() > 0.01
