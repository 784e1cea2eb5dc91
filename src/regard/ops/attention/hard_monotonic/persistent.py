"""The forward algorithm on a GPU: one launch for all steps, one back; see `naive` for the equations.

With T_i(j′, j) = p(a_i = j ∣ a_{i−1} = j′), whose rows sum to 1, and ∂ for derivatives by log π, log φ, energies e and
log emissions m:

    ∂m_i = ∂φ_i − φ_i Σ ∂φ_i;  ∂π_i += ∂m_i
    ∂φ_{i−1}(j′) = Σ_j φ_{i−1}(j′) T_i(j′, j) / π_i(j) ∂π_i(j)
    ∂e_i = ∂π_i − T_iᵀ ∂φ_{i−1}

The last line is short because p(a_{i−1} = j′ ∣ a_i = j) sums to 1 over j′, and because the derivative of a row's
normaliser is the row itself.
"""

from typing import Any

import torch
from torch import Tensor

from regard.ops.attention.hard_monotonic.naive import NEVER
from regard.ops.kernels.choose import can_run
from regard.ops.paths import first_derivative_only
from regard.ops.shapes import Bool, Float

MOST_WORDS = 128
"""The longest source: a step's transitions are one tile in the registers of a program."""


def applies(energies: Tensor) -> bool:
    """Return whether `hard_monotonic` can replace that of `fused`."""
    return energies.shape[-1] <= MOST_WORDS and can_run(energies)


def hard_monotonic(
    energies: Float[Tensor, "B Ty Tx"], emissions: Float[Tensor, "B Ty Tx"], mask: Bool[Tensor, "B Tx"]
) -> Float[Tensor, "B Ty Tx"]:
    """Log π_i of every step, by the forward algorithm."""
    log_priors: Tensor = _ForwardAlgorithm.apply(energies, emissions, mask)  # type: ignore[no-untyped-call]
    return log_priors


class _ForwardAlgorithm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, energies: Tensor, emissions: Tensor, mask: Tensor) -> Tensor:
        from regard.ops.attention.hard_monotonic import kernels

        (B, Ty, Tx), marks = energies.shape, mask.contiguous().view(torch.int8)
        energies, emissions = energies.contiguous(), emissions.contiguous()
        log_priors, log_filtered = torch.empty_like(energies), torch.empty_like(energies)
        kernels.forward_steps[(B,)](
            energies, emissions, marks, log_priors, log_filtered, Ty, Tx, NEVER=NEVER, **_tile(Tx)
        )
        ctx.save_for_backward(energies, marks, log_priors, log_filtered)
        return log_priors

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_priors: Tensor) -> tuple[Tensor, Tensor, None]:
        from regard.ops.attention.hard_monotonic import kernels

        energies, marks, log_priors, log_filtered = ctx.saved_tensors
        B, Ty, Tx = energies.shape
        d_energies, d_emissions = torch.empty_like(energies), torch.empty_like(energies)
        kernels.backward_steps[(B,)](
            energies, marks, log_priors, log_filtered, d_priors.contiguous(), d_energies, d_emissions, Ty, Tx,
            NEVER=NEVER, **_tile(Tx),
        )  # fmt: skip
        return d_energies, d_emissions, None


def _tile(Tx: int) -> dict[str, int]:
    """The side of a step's tile, and warps for 32 of its numbers per thread at most."""
    X = max(16, 1 << (Tx - 1).bit_length())
    return {"X": X, "num_warps": max(1, min(16, X * X // 1024))}
