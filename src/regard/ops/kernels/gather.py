"""The gradient of additive attention's keys, gathered over all steps by one launch after the loop."""

import torch
from torch import Tensor

from regard.ops.kernels.tiles import slots_of


def gather(keys: Tensor, queries: Tensor, d_energy: Tensor, v_a: Tensor, quick: int) -> tuple[Tensor, Tensor]:
    """δk_j = v_a ∘ Σ_i δe_ij (1 − u_ij²) and δv_a = Σ_ij δe_ij u_ij, with u_ij = tanh(q_i + k_j) recomputed.

    Args:
        keys: (B, Tx, a).
        queries: (Ty, B, a).
        d_energy: δe, (Ty, B, Tx).
        v_a: (a,).
        quick: how tanh is computed; see `parts.squash`.

    Returns:
        δk (B, Tx, a) and δv_a (a,).
    """
    from regard.ops.kernels import parts

    (num_steps, B, Tx), a = d_energy.shape, keys.shape[2]
    d_keys, d_v, BT = torch.empty_like(keys), d_energy.new_empty(B, a), slots_of(Tx)
    wide = max(16, min(64, 4096 // BT))
    sizes = (num_steps, B, Tx, a, BT, wide)
    parts.gather_keys[(B, a // wide)](
        keys, queries, d_energy, v_a, d_keys, d_v, *sizes, quick, 2, num_warps=4
    )
    return d_keys, d_v.sum(dim=0).to(v_a.dtype)
