"""Hard monotonic attention against a sum over all monotone alignments, one by one."""

import os
from importlib.util import find_spec
from itertools import product

import pytest
import torch

from regard.ops.attention.hard_monotonic import fused, hard_monotonic, naive, persistent
from regard.ops.paths import naive_only

LENGTHS = [(4, 3), (1, 3), (3, 1), (2, 4)]
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
_RUN = find_spec("triton") is not None and (DEVICE == "cuda" or os.environ.get("TRITON_INTERPRET") == "1")
runs_kernels = pytest.mark.skipif(not _RUN, reason="kernels need a GPU, or Triton and TRITON_INTERPRET=1")
paths = pytest.mark.parametrize("path", [naive, fused], ids=["naive", "fused"])


def by_enumeration(energies, emissions):
    """log p(y_1 … y_i) for each i, of one sentence without padding: a sum over every alignment."""
    num_steps, size = energies.shape
    totals = []
    for steps in range(1, num_steps + 1):
        total = 0.0
        for alignment in product(range(size), repeat=steps):
            before, probability = 0, 1.0
            for i, j in enumerate(alignment):
                if j < before:
                    probability = 0.0
                    break
                normalizer = sum(energies[i, k].exp() for k in range(before, size))
                probability *= energies[i, j].exp() / normalizer * emissions[i, j].exp()
                before = j
            total += probability
        totals.append(total.log())
    return torch.stack(totals)


def random_sentence(size, num_steps):
    energies = 2 * torch.randn(num_steps, size, dtype=torch.float64)
    return energies, -torch.rand(num_steps, size, dtype=torch.float64) * 3


@paths
@pytest.mark.parametrize(("size", "num_steps"), LENGTHS)
def test_it_is_the_sum_over_all_monotone_alignments(path, size, num_steps):
    energies, emissions = random_sentence(size, num_steps)
    mask = torch.ones(1, size, dtype=torch.bool)
    log_priors = path.hard_monotonic(energies.unsqueeze(0), emissions.unsqueeze(0), mask)[0]
    log_probs = (log_priors + emissions).logsumexp(dim=-1)  # log p(y_i | y_<i)
    torch.testing.assert_close(log_probs.cumsum(0), by_enumeration(energies, emissions))
    torch.testing.assert_close(log_priors.exp().sum(-1), torch.ones(num_steps, dtype=torch.float64))


@paths
def test_the_alignment_never_goes_back(path):
    """After a word that only the third source word can emit, the first two have no probability."""
    energies = torch.zeros(1, 2, 4, dtype=torch.float64)
    emissions = torch.tensor([[[-200.0, -200.0, 0.0, -200.0], [0.0] * 4]], dtype=torch.float64)
    alpha = path.hard_monotonic(energies, emissions, torch.ones(1, 4, dtype=torch.bool)).exp()
    torch.testing.assert_close(alpha[0, 0], torch.full((4,), 0.25, dtype=torch.float64))
    torch.testing.assert_close(alpha[0, 1], torch.tensor([0.0, 0.0, 0.5, 0.5], dtype=torch.float64))


@paths
def test_padding_changes_nothing_and_has_no_probability(path):
    size, num_steps, extra = 3, 4, 2
    energies, emissions = (part.unsqueeze(0) for part in random_sentence(size, num_steps))
    mask = torch.ones(1, size, dtype=torch.bool)
    expected = path.hard_monotonic(energies, emissions, mask)
    garbage = 50 * torch.randn(1, num_steps, extra, dtype=torch.float64)
    wide_mask = torch.cat([mask, torch.zeros(1, extra, dtype=torch.bool)], dim=1)
    wide = path.hard_monotonic(
        torch.cat([energies, garbage], dim=2), torch.cat([emissions, -garbage.abs()], dim=2), wide_mask
    )
    torch.testing.assert_close(wide[..., :size], expected)
    assert torch.equal(wide[..., size:].exp(), torch.zeros_like(garbage))


@paths
def test_gradients_are_the_derivatives(path):
    mask = torch.tensor([[True, True, True], [True, True, False]])
    energies, emissions = (part.unsqueeze(0).repeat(2, 1, 1) for part in random_sentence(3, 3))

    def log_probs(energies, emissions):
        return (path.hard_monotonic(energies, emissions, mask) + emissions).logsumexp(dim=-1)

    leaves = [energies.requires_grad_(), emissions.requires_grad_()]
    assert torch.autograd.gradcheck(log_probs, leaves)


def test_both_paths_agree(agree):
    mask = torch.arange(6) < torch.tensor([[6], [2], [4]])
    energies, emissions = torch.randn(2, 3, 5, 6, dtype=torch.float64).unbind()

    def compute(path):
        return lambda *tensors: [path.hard_monotonic(*tensors, mask).masked_fill(~mask.unsqueeze(1), 0.0)]

    agree(compute(fused), compute(naive), [energies, emissions])
    with naive_only():
        torch.testing.assert_close(
            hard_monotonic(energies, emissions, mask), naive.hard_monotonic(energies, emissions, mask)
        )


@paths
def test_one_step_is_that_of_the_whole_sentence(path):
    mask = torch.arange(4) < torch.tensor([[4], [2]])
    energies, emissions = torch.randn(2, 2, 3, 4, dtype=torch.float64).unbind()
    whole = path.hard_monotonic(energies, emissions, mask)
    log_filtered = naive.start(mask, energies)
    for i in range(3):
        log_prior = path.predict(log_filtered, energies[:, i], mask)
        torch.testing.assert_close(log_prior, whole[:, i], rtol=0, atol=0)
        log_filtered = naive.observe(log_prior, emissions[:, i])


@paths
def test_large_energies_and_impossible_words_leave_finite_numbers(path):
    """In float32: a word that the posterior excludes has to be left, and every gradient is a number."""
    energies = torch.tensor([[[900.0, 0.0, -900.0], [900.0, -900.0, 0.0]]], requires_grad=True)
    emissions = torch.tensor([[[-1e4, -1.0, -1e4], [-1e4, -1e4, -1.0]]], requires_grad=True)
    log_prior = path.hard_monotonic(energies, emissions, torch.ones(1, 3, dtype=torch.bool))
    (log_prior + emissions).logsumexp(dim=-1).sum().backward()
    assert log_prior.isfinite().all()
    assert energies.grad.isfinite().all()
    assert emissions.grad.isfinite().all()


@runs_kernels
@pytest.mark.parametrize(("size", "num_steps"), [(6, 5), (1, 2), (16, 3), (17, 2), (40, 7)])
def test_kernels_agree(agree, size, num_steps):
    lengths = torch.tensor([[size], [1], [max(1, size // 2)]], device=DEVICE)
    mask = torch.arange(size, device=DEVICE) < lengths
    energies, emissions = torch.randn(2, 3, num_steps, size, dtype=torch.float64, device=DEVICE).unbind()

    def compute(path):
        return lambda *tensors: [path.hard_monotonic(*tensors, mask).masked_fill(~mask.unsqueeze(1), 0.0)]

    agree(compute(persistent), compute(naive), [3 * energies, 3 * emissions])


@runs_kernels
def test_kernels_leave_finite_numbers_too():
    energies = torch.tensor([[[900.0, 0.0, -900.0], [900.0, -900.0, 0.0]]], device=DEVICE, requires_grad=True)
    emissions = torch.tensor([[[-1e4, -1.0, -1e4], [-1e4, -1e4, -1.0]]], device=DEVICE, requires_grad=True)
    log_prior = persistent.hard_monotonic(
        energies, emissions, torch.ones(1, 3, dtype=torch.bool, device=DEVICE)
    )
    (log_prior + emissions).logsumexp(dim=-1).sum().backward()
    for values in (log_prior, energies.grad, emissions.grad):
        assert values.isfinite().all()
