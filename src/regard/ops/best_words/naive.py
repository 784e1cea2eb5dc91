"""The most probable words of each row: Eq. 4's log p, and a sort."""

import torch
from torch import Tensor

from regard.ops.shapes import Float, Int


def best_words(
    logits: Float[Tensor, "R V"], k: int, banned: Int[Tensor, "n"] | None = None
) -> tuple[Float[Tensor, "R k"], Int[Tensor, "R k"]]:
    """Return log p of the k most probable words of each row, best first, and their columns.

    Of equally probable words the one in the smaller column comes first. A banned word keeps its probability and is
    not chosen; if a row has fewer than k other words, the rest are −∞, at any column.

    Args:
        logits: may be overwritten.
        k: the number of words, at most V.
        banned: row · V + column of each word that may not be chosen.
    """
    log_probs = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(dim=-1)
    if banned is not None:
        log_probs.view(-1).index_fill_(0, banned, float("-inf"))
    ordered, columns = log_probs.sort(dim=-1, descending=True, stable=True)
    return ordered[:, :k], columns[:, :k]
