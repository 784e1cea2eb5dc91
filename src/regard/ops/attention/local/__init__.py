"""Local attention, Luong's local-m and local-p: `naive` one word at a time, `fused` all at once."""

from torch import Tensor

from regard.ops.attention.local import fused, naive
from regard.ops.paths import fused_wanted
from regard.ops.shapes import Bool, Float, Int

__all__ = ["monotonic_positions", "nearness", "predicted_positions", "within_window"]


def monotonic_positions(
    steps: Int[Tensor, "B Q"], mask: Bool[Tensor, "B Tx"], reach: int
) -> Float[Tensor, "B Q"]:
    """local-m's p_t = t, at most S + D so that no window is empty, by the faster path."""
    if fused_wanted():
        return fused.monotonic_positions(steps, mask, reach)
    return naive.monotonic_positions(steps, mask, reach)


def predicted_positions(
    query: Float[Tensor, "B Q n"],
    mask: Bool[Tensor, "B Tx"],
    W_p: Float[Tensor, "k n"],
    v_p: Float[Tensor, "k"],
) -> Float[Tensor, "B Q"]:
    """local-p's p_t = S · σ(v_pᵀ tanh(W_p h_t)), by the faster path."""
    if fused_wanted():
        return fused.predicted_positions(query, mask, W_p, v_p)
    return naive.predicted_positions(query, mask, W_p, v_p)


def within_window(
    energies: Float[Tensor, "B Q Tx"],
    mask: Bool[Tensor, "B Tx"],
    positions: Float[Tensor, "B Q"],
    reach: int,
) -> Float[Tensor, "B Q Tx"]:
    """The energies inside [p_t − D, p_t + D], −∞ elsewhere, by the faster path."""
    if fused_wanted():
        return fused.within_window(energies, mask, positions, reach)
    return naive.within_window(energies, mask, positions, reach)


def nearness(
    positions: Float[Tensor, "B Q"], mask: Bool[Tensor, "B Tx"], reach: int
) -> Float[Tensor, "B Q Tx"]:
    """exp(−(s − p_t)²/(2σ²)), σ = D/2, by the faster path."""
    if fused_wanted():
        return fused.nearness(positions, mask, reach)
    return naive.nearness(positions, mask, reach)
