"""The hidden Markov model of word alignment for padded batches, a matrix product per target word.

Equal to `naive`, pair by pair. The jumps of a pair are a matrix C, C_sj = c_s(j − s) m_j / Σ_k c_s(k − s) m_k with m
the mask of its real words: so a step of all pairs is one batched product with C. Probabilities are scaled at every
step. A padded target word changes nothing.
"""

import torch
from torch import Tensor

from regard.ops.alignment_hmm.naive import Posteriors
from regard.ops.shapes import Bool, Float

_TINY = 1e-30


def hmm_posteriors(
    emissions: Float[Tensor, "B I J"],
    null_emissions: Float[Tensor, "B I"],
    weights: Float[Tensor, "B S D"],
    null: float,
    target_mask: Bool[Tensor, "B I"],
    source_mask: Bool[Tensor, "B J"],
) -> Posteriors:
    """As `naive.hmm_posteriors`, for a batch: alpha (B, I, J), 0 on padding; jumps (B, J + 1, 2K + 1).

    log p is a sum over the pairs.

    Args:
        emissions: p(y_i ∣ x_j).
        null_emissions: p(y_i ∣ null).
        weights: c of the jumps −K, …, K from each of the S = J + 1 starts.
        null: p₀.
        target_mask: True at real words.
        source_mask: True at real words.
    """
    num_pairs, num_targets, num_sources = emissions.shape
    longest, device = (weights.shape[2] - 1) // 2, emissions.device
    starts = torch.arange(num_sources + 1, device=device).unsqueeze(1)
    lengths = torch.arange(1, num_sources + 1, device=device) - starts  # (J + 1, J)
    lengths = (lengths.clamp(-longest, longest) + longest).expand(num_pairs, -1, -1)
    C = weights.gather(2, lengths) * source_mask.unsqueeze(1)  # (B, J + 1, J)
    C = C / C.sum(dim=2, keepdim=True).clamp_min(_TINY)
    cells = target_mask.unsqueeze(2) & source_mask.unsqueeze(1)
    emissions = (1 - null) * emissions * cells  # (B, I, J)
    # a padded word is surely null, so that it changes nothing
    null_emissions = torch.where(target_mask, null * null_emissions, 1.0).unsqueeze(2)  # (B, I, 1)
    forward = emissions.new_zeros(num_pairs, num_sources + 1)
    forward[:, 0] = 1.0
    alpha = torch.empty_like(emissions)
    leaving = emissions.new_empty(num_pairs, num_targets, num_sources + 1)
    scales = emissions.new_empty(num_pairs, num_targets, 1)
    for i in range(num_targets):
        leaving[:, i] = forward
        alpha[:, i] = emissions[:, i] * torch.einsum("bs,bsj->bj", forward, C)
        forward = null_emissions[:, i] * forward
        forward[:, 1:] += alpha[:, i]
        scales[:, i] = forward.sum(dim=1, keepdim=True).clamp_min(_TINY)
        forward = forward / scales[:, i]
    emissions, null_emissions, alpha = (part / scales for part in (emissions, null_emissions, alpha))
    backward = torch.ones_like(forward)
    for i in reversed(range(num_targets)):
        alpha[:, i] *= backward[:, 1:]
        emissions[:, i] *= backward[:, 1:]  # from here on also what follows
        backward = torch.einsum("bj,bsj->bs", emissions[:, i], C) + null_emissions[:, i] * backward
    expected = C * torch.einsum("bis,bij->bsj", leaving, emissions)
    jumps = torch.zeros_like(weights).scatter_add_(2, lengths, expected)
    return Posteriors(alpha, jumps, scales.log().sum())
