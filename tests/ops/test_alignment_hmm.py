"""The alignment HMM: the naive sums against every alignment, the batch against the naive pair."""

from itertools import product

import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.ops.alignment_hmm import fused, naive


def random_pair(num_targets, num_sources, seed=0, longest=3):
    generator = torch.Generator().manual_seed(seed)

    def sample(*shape):
        return torch.rand(*shape, generator=generator, dtype=torch.float64) + 0.01

    weights = sample(num_sources + 1, 2 * longest + 1)
    return sample(num_targets, num_sources), sample(num_targets), weights


def enumerate_alignments(emissions, null_emissions, weights, null):
    """Every alignment, its probability by the definition; 0 is the null word, words count from 1."""
    num_targets, num_sources = emissions.shape
    jumps, longest = naive.jump_probabilities(weights), (weights.shape[1] - 1) // 2
    alpha, expected, total = torch.zeros_like(emissions), torch.zeros_like(weights), 0.0
    for alignment in product(range(num_sources + 1), repeat=num_targets):
        probability, last, steps = 1.0, 0, []
        for i, a in enumerate(alignment):
            if a == 0:
                probability = probability * null * null_emissions[i]
            else:
                probability = probability * (1 - null) * jumps[last, a - 1] * emissions[i, a - 1]
                steps.append((last, max(-longest, min(longest, a - last))))
                last = a
        total = total + probability
        for i, a in enumerate(alignment):
            if a:
                alpha[i, a - 1] += probability
        for start, step in steps:
            expected[start, step + longest] += probability
    return alpha / total, expected / total, torch.log(total)


def test_the_naive_form_is_the_sum_over_all_alignments():
    emissions, null_emissions, weights = random_pair(3, 4, longest=2)
    found = naive.hmm_posteriors(emissions, null_emissions, weights, 0.3)
    for got, expected in zip(
        found, enumerate_alignments(emissions, null_emissions, weights, 0.3), strict=True
    ):
        torch.testing.assert_close(got, expected)


def test_jumps_by_hand():
    """Weights of the jumps −1, 0, 1; longer jumps have the weight of the longest."""
    weights = torch.tensor([[1.0, 2.0, 4.0], [1.0, 2.0, 4.0], [5.0, 1.0, 9.0]])  # the last word has its own
    jumps = naive.jump_probabilities(weights)
    expected = torch.tensor([[4, 4], [2, 4], [5, 1]]) / torch.tensor([[8], [6], [6]])
    torch.testing.assert_close(jumps, expected)


@given(
    lengths=st.lists(st.tuples(st.integers(1, 6), st.integers(1, 7)), min_size=1, max_size=4),
    null=st.floats(0.01, 0.9),
    seed=st.integers(0, 1000),
)
def test_a_padded_batch_is_its_pairs(lengths, null, seed):
    most_targets, most_sources = (max(sizes) for sizes in zip(*lengths, strict=True))
    batch = torch.full((len(lengths), most_targets, most_sources), 0.7, dtype=torch.float64)
    nulls = torch.full((len(lengths), most_targets), 0.9, dtype=torch.float64)
    source_mask = torch.zeros(len(lengths), most_sources, dtype=torch.bool)
    target_mask = torch.zeros(len(lengths), most_targets, dtype=torch.bool)
    *_, weights = random_pair(1, most_sources, seed)
    weights = weights + torch.arange(len(lengths)).view(-1, 1, 1)  # each pair's own, also on padding
    alone = []
    for b, (num_targets, num_sources) in enumerate(lengths):
        emissions, null_emissions, _ = random_pair(num_targets, num_sources, seed + b)
        batch[b, :num_targets, :num_sources], nulls[b, :num_targets] = emissions, null_emissions
        source_mask[b, :num_sources], target_mask[b, :num_targets] = True, True
        alone.append(naive.hmm_posteriors(emissions, null_emissions, weights[b, : num_sources + 1], null))
    found = fused.hmm_posteriors(batch, nulls, weights, null, target_mask, source_mask)
    for b, (num_targets, num_sources) in enumerate(lengths):
        torch.testing.assert_close(found.alpha[b, :num_targets, :num_sources], alone[b].alpha)
        assert not found.alpha[b, num_targets:].any()
        assert not found.alpha[b, :, num_sources:].any()
        torch.testing.assert_close(found.jumps[b, : num_sources + 1], alone[b].jumps)
        assert not found.jumps[b, num_sources + 1 :].any()
    torch.testing.assert_close(found.log_likelihood, sum(each.log_likelihood for each in alone))


def test_long_pairs_do_not_underflow():
    mask = torch.ones(1, 400, dtype=torch.bool)
    emissions = torch.full((1, 400, 400), 1e-9)
    weights = torch.ones(1, 401, 21)
    found = fused.hmm_posteriors(emissions, torch.full((1, 400), 1e-9), weights, 0.2, mask, mask)
    assert torch.isfinite(found.log_likelihood)
    torch.testing.assert_close(found.alpha.sum(), torch.tensor(400 * 0.8), rtol=1e-3, atol=0.0)


def test_a_pair_that_nothing_explains_has_no_links():
    mask = torch.ones(1, 2, dtype=torch.bool)
    weights = torch.ones(1, 3, 3)
    found = fused.hmm_posteriors(torch.zeros(1, 2, 2), torch.zeros(1, 2), weights, 0.2, mask, mask)
    assert found.alpha.tolist() == [[[0.0, 0.0], [0.0, 0.0]]]
