"""The most probable words on a GPU: a block of the vocabulary of each row at a time, then the best of all blocks.

The logits are read once, in their own precision, and nothing as large as they are is written: each block leaves its
k best words, its largest logit and its Σ exp. A word is one integer, its logit above its column, so that of equal
logits the smaller column comes first; see `naive`.
"""

from typing import NamedTuple

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
    # a row that may not end is one whose minimum is a step ahead
    blocks = best_of_blocks(
        logits, k, allowed.banned, allowed.end, (~allowed.may_end).long(), allowed.banned.new_zeros(1)
    )
    log_probs = torch.empty(num_rows, k, dtype=torch.float32, device=device)
    columns = torch.empty(num_rows, k, dtype=torch.int64, device=device)
    kernels.best_of_rows[(num_rows,)](
        logits, allowed.must_end.view(torch.int8), *blocks, log_probs, columns, size, allowed.end,
        blocks.sums.shape[1], K=k, **blocks.tiles, num_warps=1,
    )  # fmt: skip
    return log_probs, columns


class Blocks(NamedTuple):
    """What each block of each row leaves.

    Attributes:
        keys: of its k best words, (R, blocks, k).
        sums: its largest logit, and Σ exp(logit − largest), (R, blocks, 2).
    """

    keys: Tensor
    sums: Tensor

    @property
    def tiles(self) -> dict[str, int]:
        """Sizes of the tiles that hold a row."""
        _, num_blocks, k = self.keys.shape
        return {"BLOCKS": power_of_two(num_blocks), "KEYS_UP": power_of_two(num_blocks * k)}


def best_of_blocks(
    logits: Float[Tensor, "R V"],
    k: int,
    banned: Int[Tensor, "n"],
    end: int,
    minimum: Int[Tensor, "..."],
    step: Int[Tensor, "1"],
) -> Blocks:
    """The first of the two launches.

    Args:
        logits: contiguous.
        k: the number of words.
        banned: columns that no row may choose.
        end: the column of EOS.
        minimum: of each row, or of each sentence, the step from which on it may end.
        step: the number of this one.
    """
    from regard.ops.best_words import kernels

    (num_rows, size), device = logits.shape, logits.device
    num_blocks = -(-size // BLOCK)
    keys = torch.empty(num_rows, num_blocks, k, dtype=torch.int64, device=device)
    sums = torch.empty(num_rows, num_blocks, 2, dtype=torch.float32, device=device)
    kernels.best_of_blocks[(num_rows, num_blocks)](
        logits, banned, minimum, step, keys, sums, size, end, num_blocks,
        ROWS=num_rows // minimum.numel(), NUM_BANNED=len(banned), K=k, BLOCK=BLOCK, num_warps=4,
    )  # fmt: skip
    return Blocks(keys, sums)


def power_of_two(number: int) -> int:
    """The smallest power of two from `number` up, at least 2: the side of a tile."""
    return 1 << max(1, (number - 1).bit_length())
