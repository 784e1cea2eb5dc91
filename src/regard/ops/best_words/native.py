"""The most probable words by a C kernel on the CPU: two passes over a row for its sum, one for the k best."""

import torch
from torch import Tensor

from regard.ops.native.call import at, empty, kernels
from regard.ops.shapes import Float, Int

MOST = 64
"""How many words of a row are still found by inserting each into its place."""
_ALONE = 1 << 16
"""Logits below which one thread is done before a second has begun."""


def best_words(
    logits: Float[Tensor, "R V"], k: int, banned: Int[Tensor, "n"] | None = None
) -> tuple[Float[Tensor, "R k"], Int[Tensor, "R k"]]:
    """As `naive`, for k up to `MOST`; overwrites what is banned."""
    logits = logits.contiguous()
    rows, words = logits.shape
    banned = None if banned is None else banned.contiguous()
    best, columns = empty(rows, k), torch.empty(rows, k, dtype=torch.int64, device="cpu")
    threads = torch.get_num_threads() if logits.numel() >= _ALONE else 1
    number = 0 if banned is None else len(banned)
    kernels().regard_best_words(
        at(logits), at(banned), number, rows, words, k, at(best), at(columns), threads
    )
    return best, columns
