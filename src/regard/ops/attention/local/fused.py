"""Local attention for all queries and words at once; the same signatures as `naive`.

A word's number s is how many real words there are up to it, so padding is never counted.
"""

import torch
from torch import Tensor

from regard.ops.shapes import Bool, Float, Int


def monotonic_positions(
    steps: Int[Tensor, "B Q"], mask: Bool[Tensor, "B Tx"], reach: int
) -> Float[Tensor, "B Q"]:
    """local-m: p_t = min(t, S + D)."""
    last = mask.sum(dim=1, keepdim=True) + reach  # (B, 1)
    return torch.minimum(steps, last).to(torch.get_default_dtype())


def predicted_positions(
    query: Float[Tensor, "B Q n"],
    mask: Bool[Tensor, "B Tx"],
    W_p: Float[Tensor, "k n"],
    v_p: Float[Tensor, "k"],
) -> Float[Tensor, "B Q"]:
    """local-p: p_t = S · σ(v_pᵀ tanh(W_p h_t)), Eq. 9."""
    # a rounded p_t is another window, so mixed precision does not narrow it
    wide = torch.promote_types(query.dtype, torch.float32)
    with torch.autocast(query.device.type, enabled=False):
        hidden = torch.tanh(query.to(wide) @ W_p.to(wide).T)  # (B, Q, k)
        return mask.sum(dim=1, keepdim=True) * torch.sigmoid(hidden @ v_p.to(wide))


def within_window(
    energies: Float[Tensor, "B Q Tx"],
    mask: Bool[Tensor, "B Tx"],
    positions: Float[Tensor, "B Q"],
    reach: int,
) -> Float[Tensor, "B Q Tx"]:
    """The energies inside [p_t − D, p_t + D]; −∞ elsewhere."""
    numbers = mask.cumsum(dim=1).unsqueeze(1)  # (B, 1, Tx)
    p = positions.detach().unsqueeze(2)  # (B, Q, 1)
    inside = (p - reach <= numbers) & (numbers <= p + reach) & mask.unsqueeze(1)
    return energies.masked_fill(~inside, float("-inf"))


def nearness(
    positions: Float[Tensor, "B Q"], mask: Bool[Tensor, "B Tx"], reach: int
) -> Float[Tensor, "B Q Tx"]:
    """exp(−(s − p_t)²/(2σ²)) with σ = D/2, Eq. 10."""
    distance = mask.cumsum(dim=1).unsqueeze(1) - positions.unsqueeze(2)  # (B, Q, Tx)
    return torch.exp(distance * distance * (-2.0 / reach**2))
