"""Gradients of a memory's keys and values, gathered over all steps after the loop."""

import torch
from torch import Tensor

from regard.ops.kernels.arguments import Memory
from regard.ops.kernels.tiles import quick_of, slots_of


def key_gradients(memory: Memory, d_energy: Tensor, count: int) -> tuple[Tensor, Tensor | None]:
    """∂/∂(the first `count` keys) (B, count, p), and ∂/∂v_a (p,) of additive energies.

    δk_j = v_a ∘ Σ_i δe_ij (1 − u_ij²) and δv_a = Σ_ij δe_ij u_ij, with u_ij = tanh(q_i + k_j) computed again; of dot
    products δk_j = scale · Σ_i δe_ij q_i.

    Args:
        memory: its keys (B, slots, p), queries (T, B, p) and v_a.
        d_energy: δe, (T, B, slots), before the scale; 0 where a step could not look.
        count: how many slots were given, and not written by the steps.
    """
    keys, queries, v_a = memory.keys, memory.queries, memory.v_a
    if v_a is None:
        weights = (memory.scale * d_energy[:, :, :count]).permute(1, 2, 0).to(keys.dtype)
        return torch.bmm(weights, queries.transpose(0, 1)), None
    from regard.ops.kernels.memory import gather_keys

    (num_steps, B, slots), p = d_energy.shape, keys.shape[2]
    d_keys, d_v, BT = torch.empty_like(keys), d_energy.new_empty(B, p), slots_of(slots)
    wide = max(16, min(64, 4096 // BT))
    sizes = (num_steps, B, slots, p, BT, wide)
    gather_keys[(B, p // wide)](
        keys, queries, d_energy, v_a, d_keys, d_v, *sizes, quick_of(keys), 2, num_warps=4
    )
    return d_keys[:, :count], d_v.sum(dim=0).to(v_a.dtype)


def read_values(alpha: Tensor, d_reads: Tensor) -> Tensor:
    """∂/∂(the values that alpha (T, B, slots) weighed) (B, slots, d), from ∂/∂(what was read) (B, T, d)."""
    return torch.bmm(alpha.permute(1, 2, 0).to(d_reads.dtype), d_reads)
