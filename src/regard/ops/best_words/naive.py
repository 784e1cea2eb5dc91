"""The most probable words of each row: Eq. 4's log p, and a sort."""

from typing import NamedTuple

import torch
from torch import Tensor

from regard.ops.shapes import Bool, Float, Int


class Allowed(NamedTuple):
    """Which words the rows of a step may choose.

    Attributes:
        banned: columns that no row may choose, (n,).
        end: the column of EOS.
        may_end: whether a row may choose EOS, (R,).
        must_end: whether a row may choose nothing else, whatever the others say, (R,).
    """

    banned: Int[Tensor, "n"]
    end: int
    may_end: Bool[Tensor, "R"]
    must_end: Bool[Tensor, "R"]


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


def best_allowed(
    logits: Float[Tensor, "R V"], k: int, allowed: Allowed
) -> tuple[Float[Tensor, "R k"], Int[Tensor, "R k"]]:
    """As `best_words`, by rules that are tensors, so that the host need not know which rows they concern.

    Args:
        logits: may be overwritten.
        k: the number of words, at most V.
        allowed: what may be chosen.
    """
    columns = torch.arange(logits.shape[1], device=logits.device)
    is_end = columns == allowed.end  # (V,)
    is_banned = torch.isin(columns, allowed.banned) | (is_end & ~allowed.may_end.unsqueeze(1))  # (R, V)
    is_banned = torch.where(allowed.must_end.unsqueeze(1), ~is_end, is_banned)
    return best_words(logits, k, is_banned.flatten().nonzero().squeeze(1))
