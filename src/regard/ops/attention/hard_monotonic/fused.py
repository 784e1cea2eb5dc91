"""The forward algorithm without a matrix of transitions: cumulative sums, linear in Tx; see `naive`.

With Z_i(j′) = log Σ_{k ≥ j′} exp(e_ik), for all steps at once,
log π_i(j) = e_ij + log Σ_{j′ ≤ j} exp(log φ_{i−1}(j′) − Z_i(j′)).
"""

import torch
from torch import Tensor

from regard.ops.attention.hard_monotonic.naive import NEVER, observe, start
from regard.ops.shapes import Bool, Float


def _normalizers(energies: Tensor) -> Tensor:
    """Z(j′) of masked energies, (…, Tx) → (…, Tx)."""
    return energies.flip(-1).logcumsumexp(dim=-1).flip(-1)


def _predict(log_filtered: Tensor, energies: Tensor, normalizers: Tensor, mask: Tensor) -> Tensor:
    reached = (log_filtered - normalizers).masked_fill(~mask, NEVER).logcumsumexp(dim=-1)  # (B, Tx)
    log_prior = (energies + reached).masked_fill(~mask, NEVER)
    return log_prior.log_softmax(dim=-1).masked_fill(~mask, NEVER)


def predict(
    log_filtered: Float[Tensor, "B Tx"], energies: Float[Tensor, "B Tx"], mask: Bool[Tensor, "B Tx"]
) -> Float[Tensor, "B Tx"]:
    """Log φ_{i−1} → log π_i."""
    energies = energies.masked_fill(~mask, NEVER)
    return _predict(log_filtered, energies, _normalizers(energies), mask)


def hard_monotonic(
    energies: Float[Tensor, "B Ty Tx"], emissions: Float[Tensor, "B Ty Tx"], mask: Bool[Tensor, "B Tx"]
) -> Float[Tensor, "B Ty Tx"]:
    """Log π_i of every step, by the forward algorithm."""
    energies = energies.masked_fill(~mask.unsqueeze(1), NEVER)
    normalizers = _normalizers(energies)  # (B, Ty, Tx)
    log_filtered, log_priors = start(mask, energies), []
    for i in range(energies.shape[1]):
        log_prior = _predict(log_filtered, energies[:, i], normalizers[:, i], mask)
        log_filtered = observe(log_prior, emissions[:, i])
        log_priors.append(log_prior)
    return torch.stack(log_priors, dim=1)
