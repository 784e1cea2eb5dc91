"""Coverage: in the energies (`naive` pair by pair, `fused` all at once), and as a penalty in training."""

from torch import Tensor

from regard.ops.attention.coverage import fused, naive
from regard.ops.attention.coverage.penalty import coverage_before, coverage_penalty
from regard.ops.paths import fused_wanted
from regard.ops.shapes import Float

__all__ = ["coverage_before", "coverage_penalty", "covered_energies"]


def covered_energies(
    query: Float[Tensor, "B Q a"],
    keys: Float[Tensor, "B Tx a"],
    v_a: Float[Tensor, "a"],
    w_c: Float[Tensor, "a"],
    coverage: Float[Tensor, "B Q Tx"],
) -> Float[Tensor, "B Q Tx"]:
    """e_ij = v_aᵀ tanh(q_i + k_j + w_c C_ij), by the faster path."""
    if fused_wanted():
        return fused.covered_energies(query, keys, v_a, w_c, coverage)
    return naive.covered_energies(query, keys, v_a, w_c, coverage)
