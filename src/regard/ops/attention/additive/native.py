"""Additive energies by a C kernel on the CPU, where no gradient is wanted; the same signature as `naive`."""

import torch
from torch import Tensor

from regard.ops.native.call import at, empty, kernels, plain
from regard.ops.shapes import Float

_ALONE = 1 << 14
"""Values of tanh below which one thread is done before a second has begun."""


def additive_energies(
    query: Float[Tensor, "B Q a"], keys: Float[Tensor, "B Tx a"], v_a: Float[Tensor, "a"]
) -> Float[Tensor, "B Q Tx"]:
    """e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j)."""
    query, keys, v_a = plain(query), plain(keys), plain(v_a)
    (batch, queries, a), words = query.shape, keys.shape[1]
    energies = empty(batch, queries, words)
    threads = torch.get_num_threads() if energies.numel() * a >= _ALONE else 1
    kernels().regard_additive_energies(
        *map(at, (query, keys, v_a, energies)), batch, queries, words, a, threads
    )
    return energies
