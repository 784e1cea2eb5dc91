"""The most probable words on a GPU: a block of the vocabulary of each row at a time, then the best of all blocks.

The logits are read once, in their own precision, and nothing as large as they are is written: each block leaves its
k best words, its largest logit and its Σ exp. A word is one integer, its logit above its column, so that of equal
logits the smaller column comes first; see `naive`.
"""

import torch
from torch import Tensor

from regard.ops.best_words.naive import Allowed
from regard.ops.kernels.choose import can_run
from regard.ops.shapes import Float, Int

MOST = 16
"""How many words of a row are still found one after another."""

BLOCK = 4096
"""Columns of a block: 32 in each thread's registers."""


def applies(logits: Tensor, k: int) -> bool:
    """Return whether `best_allowed` can replace that of `fused`."""
    return k <= MOST and logits.dtype in (torch.float32, torch.bfloat16, torch.float16) and can_run(logits)


def best_allowed(
    logits: Float[Tensor, "R V"], k: int, allowed: Allowed
) -> tuple[Float[Tensor, "R k"], Int[Tensor, "R k"]]:
    """As `naive`, for k up to `MOST`."""
    from regard.ops.best_words import kernels

    logits = logits.contiguous()
    (num_rows, size), device = logits.shape, logits.device
    blocks = -(-size // BLOCK)
    keys = torch.empty(num_rows, blocks, k, dtype=torch.int64, device=device)
    sums = torch.empty(num_rows, blocks, 2, dtype=torch.float32, device=device)
    log_probs = torch.empty(num_rows, k, dtype=torch.float32, device=device)
    columns = torch.empty(num_rows, k, dtype=torch.int64, device=device)
    marks = allowed.may_end.view(torch.int8), allowed.must_end.view(torch.int8)
    kernels.best_of_blocks[(num_rows, blocks)](
        logits, allowed.banned, marks[0], keys, sums, size, allowed.end, blocks,
        NUM_BANNED=len(allowed.banned), K=k, BLOCK=BLOCK, num_warps=4,
    )  # fmt: skip
    kernels.best_of_rows[(num_rows,)](
        logits, marks[1], keys, sums, log_probs, columns, size, allowed.end, blocks,
        K=k, BLOCKS=_power(blocks), KEYS_UP=_power(blocks * k), num_warps=1,
    )  # fmt: skip
    return log_probs, columns


def _power(number: int) -> int:
    """The power of two from `number` up."""
    return 1 << max(0, number - 1).bit_length()
