"""Sparsemax of all rows at once, with its backward pass derived by hand; the same signature as `naive`.

With the energies sorted, z_1 ≥ z_2 ≥ …, the support is the longest prefix with 1 + k z_k > Σ_{i≤k} z_i, and
τ = (Σ_{i≤k} z_i − 1)/k. The derivation of both passes is in README.md of `ops`.
"""

from typing import Any

import torch
from torch import Tensor

from regard.ops.paths import first_derivative_only
from regard.ops.shapes import Bool, Float


class _Sparsemax(torch.autograd.Function):
    """(…, Tx) → (…, Tx); −∞ marks what may not be attended to."""

    @staticmethod
    def forward(ctx: Any, energies: Tensor) -> Tensor:
        # the same alpha, and no digits lost when the energies are large
        energies = energies - energies.amax(dim=-1, keepdim=True)
        falling = energies.sort(dim=-1, descending=True).values
        sums = falling.cumsum(dim=-1)
        k = torch.arange(1, energies.shape[-1] + 1, device=energies.device)
        size = (1 + k * falling > sums).sum(dim=-1, keepdim=True)  # of the support
        tau = (sums.gather(-1, size - 1) - 1) / size
        alpha = (energies - tau).clamp_(min=0)
        ctx.save_for_backward(alpha > 0)
        return alpha

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_alpha: Tensor) -> Tensor:
        (support,) = ctx.saved_tensors
        inside = torch.where(support, d_alpha, 0.0)
        mean = inside.sum(dim=-1, keepdim=True) / support.sum(dim=-1, keepdim=True)
        return torch.where(support, d_alpha - mean, 0.0)


def sparsemax(energies: Float[Tensor, "B Q Tx"], mask: Bool[Tensor, "B Tx"]) -> Float[Tensor, "B Q Tx"]:
    """α_ij = max(e_ij − τ_i, 0) over real words; exactly 0 on padding."""
    # mixed precision narrows what comes in; as torch's softmax does, alpha is computed wide
    wide = energies.to(torch.promote_types(energies.dtype, torch.float32))
    alpha: Tensor = _Sparsemax.apply(wide.masked_fill(~mask.unsqueeze(1), float("-inf")))  # type: ignore[no-untyped-call]
    return alpha
