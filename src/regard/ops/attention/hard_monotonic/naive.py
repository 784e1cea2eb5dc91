"""Hard monotonic attention (Wu & Cotterell 2019): each word is written from one source word, and none goes back.

The alignment a_1 ≤ a_2 ≤ … is a latent variable, summed out exactly by the forward algorithm in log space:

    p(a_i = j ∣ a_{i−1} = j′) = exp(e_ij) / Σ_{k ≥ j′} exp(e_ik) for j ≥ j′, else 0, with a_0 the first word
    π_i(j) = p(a_i = j ∣ y_<i) = Σ_{j′} p(a_i = j ∣ a_{i−1} = j′) φ_{i−1}(j′)
    φ_i(j) = p(a_i = j ∣ y_≤i) ∝ π_i(j) p(y_i ∣ a_i = j)
    p(y_i ∣ y_<i) = Σ_j π_i(j) p(y_i ∣ a_i = j)

This is the paper's 0th-order model with monotone transitions: the energies e_ij do not depend on a_{i−1}, the sum that
normalises them does.
"""

import torch
from torch import Tensor

from regard.ops.shapes import Bool, Float

NEVER = -1e30
"""The logarithm of 0: finite, so that sums of such numbers have derivatives."""


def monotone_transitions(
    energies: Float[Tensor, "B Tx"], mask: Bool[Tensor, "B Tx"]
) -> Float[Tensor, "B Tx Tx"]:
    """Log p(a_i = j ∣ a_{i−1} = j′), a row for each j′.

    Args:
        energies: e_ij of one step i.
        mask: True at real words.
    """
    size = energies.shape[1]
    forward = torch.ones(size, size, dtype=torch.bool, device=mask.device).triu()  # j ≥ j′
    allowed = forward & mask.unsqueeze(1)  # (B, Tx, Tx)
    return energies.unsqueeze(1).masked_fill(~allowed, NEVER).log_softmax(dim=-1)  # (B, Tx, Tx)


def start(mask: Bool[Tensor, "B Tx"], like: Tensor) -> Float[Tensor, "B Tx"]:
    """Log φ_0: a_0 is the first word."""
    log_filtered = torch.full(mask.shape, NEVER, dtype=like.dtype, device=like.device)
    log_filtered[:, 0] = 0.0
    return log_filtered


def predict(
    log_filtered: Float[Tensor, "B Tx"], energies: Float[Tensor, "B Tx"], mask: Bool[Tensor, "B Tx"]
) -> Float[Tensor, "B Tx"]:
    """Log φ_{i−1} → log π_i."""
    transitions = monotone_transitions(energies, mask)
    log_prior = (log_filtered.unsqueeze(2) + transitions).logsumexp(dim=1)  # (B, Tx)
    return log_prior.masked_fill(~mask, NEVER).log_softmax(dim=-1).masked_fill(~mask, NEVER)


def observe(log_prior: Float[Tensor, "B Tx"], emissions: Float[Tensor, "B Tx"]) -> Float[Tensor, "B Tx"]:
    """Log π_i and log p(y_i ∣ a_i = j) → log φ_i."""
    return (log_prior + emissions).log_softmax(dim=-1)


def hard_monotonic(
    energies: Float[Tensor, "B Ty Tx"], emissions: Float[Tensor, "B Ty Tx"], mask: Bool[Tensor, "B Tx"]
) -> Float[Tensor, "B Ty Tx"]:
    """Log π_i of every step, by the forward algorithm; log p(y_i ∣ y_<i) is the logsumexp of π_i + emissions.

    Args:
        energies: e_ij.
        emissions: log p(y_i ∣ a_i = j); those of the last step change nothing.
        mask: True at real source words.

    Returns:
        Log π; `NEVER` on padding.
    """
    log_filtered, log_priors = start(mask, energies), []
    for i in range(energies.shape[1]):
        log_prior = predict(log_filtered, energies[:, i], mask)
        log_filtered = observe(log_prior, emissions[:, i])
        log_priors.append(log_prior)
    return torch.stack(log_priors, dim=1)
