"""Local attention: a window around a position in the source (Luong et al. 2015, §3.2), one word at a time.

Positions s of the source and steps t of the target are counted from 1, as in the paper. The length S counts all that
the encoder reads: the words and EOS, which is at S and can be attended to like any word.
"""

import math

import torch
from torch import Tensor

from regard.ops.shapes import Bool, Float, Int


def monotonic_positions(
    steps: Int[Tensor, "B Q"], mask: Bool[Tensor, "B Tx"], reach: int
) -> Float[Tensor, "B Q"]:
    """local-m: p_t = t, at most S + D, the last position whose window contains a word.

    Args:
        steps: t.
        mask: True at real words.
        reach: D.
    """
    rows = []
    for row, real in zip(steps.tolist(), mask.sum(dim=1).tolist(), strict=True):
        rows.append([float(min(t, real + reach)) for t in row])
    return torch.tensor(rows, dtype=torch.get_default_dtype(), device=mask.device)


def predicted_positions(
    query: Float[Tensor, "B Q n"],
    mask: Bool[Tensor, "B Tx"],
    W_p: Float[Tensor, "k n"],
    v_p: Float[Tensor, "k"],
) -> Float[Tensor, "B Q"]:
    """local-p: p_t = S · σ(v_pᵀ tanh(W_p h_t)), Eq. 9, a real number between 0 and S, whatever the mixed precision."""
    wide = torch.promote_types(query.dtype, torch.float32)
    query, W_p, v_p = query.to(wide), W_p.to(wide), v_p.to(wide)
    rows = []
    with torch.autocast(query.device.type, enabled=False):
        for states, real in zip(query, mask, strict=True):
            rows.append(torch.stack([real.sum() * torch.sigmoid(v_p @ torch.tanh(W_p @ h)) for h in states]))
    return torch.stack(rows)


def within_window(
    energies: Float[Tensor, "B Q Tx"],
    mask: Bool[Tensor, "B Tx"],
    positions: Float[Tensor, "B Q"],
    reach: int,
) -> Float[Tensor, "B Q Tx"]:
    """The energies inside [p_t − D, p_t + D]; −∞ elsewhere."""
    outside = torch.ones_like(energies, dtype=torch.bool)
    for b, i in torch.cartesian_prod(*map(torch.arange, positions.shape)).tolist():
        p = positions[b, i].item()
        s = 0
        for j, real in enumerate(mask[b].tolist()):
            s += real
            outside[b, i, j] = not (real and p - reach <= s <= p + reach)
    return energies.masked_fill(outside, float("-inf"))


def nearness(
    positions: Float[Tensor, "B Q"], mask: Bool[Tensor, "B Tx"], reach: int
) -> Float[Tensor, "B Q Tx"]:
    """exp(−(s − p_t)²/(2σ²)) with σ = D/2, Eq. 10: what local-p multiplies alpha by (0 on padding as it is)."""
    sigma = reach / 2
    rows = []
    for p, real in zip(positions, mask.tolist(), strict=True):
        numbers = [sum(real[: j + 1]) for j in range(len(real))]
        columns = [torch.exp(-((s - p) ** 2) / (2 * math.pow(sigma, 2))) for s in numbers]  # (Q,) each
        rows.append(torch.stack(columns, dim=1))  # (Q, Tx)
    return torch.stack(rows)
