"""The hidden Markov model of word alignment for padded batches, a matrix product per target word.

Equal to `naive`, pair by pair. A jump from s to j has the probability C_sj m_j / z_s, with C_sj = c(j − s) the same for
all pairs, m the mask of a pair's real words and z_s = Σ_j C_sj m_j: so a step of all pairs is one product with C.
Probabilities are scaled at every step. A padded target word changes nothing.
"""

import torch
from torch import Tensor

from regard.ops.alignment_hmm.naive import Posteriors
from regard.ops.shapes import Bool, Float

_TINY = 1e-30


def hmm_posteriors(
    emissions: Float[Tensor, "B I J"],
    null_emissions: Float[Tensor, "B I"],
    weights: Float[Tensor, "D"],
    null: float,
    target_mask: Bool[Tensor, "B I"],
    source_mask: Bool[Tensor, "B J"],
) -> Posteriors:
    """As `naive.hmm_posteriors`, for a batch: alpha (B, I, J), 0 on padding; jumps and log p are sums over its pairs.

    Args:
        emissions: p(y_i ∣ x_j).
        null_emissions: p(y_i ∣ null).
        weights: c of the jumps −K, …, K.
        null: p₀.
        target_mask: True at real words.
        source_mask: True at real words.
    """
    num_pairs, num_targets, num_sources = emissions.shape
    longest, device = (len(weights) - 1) // 2, emissions.device
    starts = torch.arange(num_sources + 1, device=device).unsqueeze(1)
    lengths = torch.arange(1, num_sources + 1, device=device) - starts  # (J + 1, J)
    lengths = lengths.clamp(-longest, longest) + longest
    C = weights[lengths]  # (J + 1, J)
    z = (source_mask.to(C.dtype) @ C.T).clamp_min(_TINY)  # (B, J + 1)
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
        leaving[:, i] = forward / z
        alpha[:, i] = emissions[:, i] * (leaving[:, i] @ C)  # (B, J)
        forward = null_emissions[:, i] * forward
        forward[:, 1:] += alpha[:, i]
        scales[:, i] = forward.sum(dim=1, keepdim=True).clamp_min(_TINY)
        forward = forward / scales[:, i]
    emissions, null_emissions, alpha = (part / scales for part in (emissions, null_emissions, alpha))
    backward = torch.ones_like(forward)
    for i in reversed(range(num_targets)):
        alpha[:, i] *= backward[:, 1:]
        emissions[:, i] *= backward[:, 1:]  # from here on also what follows
        backward = (emissions[:, i] @ C.T) / z + null_emissions[:, i] * backward
    expected = C * (leaving.flatten(0, 1).T @ emissions.flatten(0, 1))  # (J + 1, J)
    jumps = torch.zeros_like(weights).index_add_(0, lengths.flatten(), expected.flatten())
    return Posteriors(alpha, jumps, scales.log().sum())
