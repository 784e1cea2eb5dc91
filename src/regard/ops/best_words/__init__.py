"""The k most probable words of each row, by one of three paths.

`naive` sorts; `fused` allocates nothing as large as the logits; `native` does the same in C on a CPU, for small k.
`best_allowed` takes its rules as tensors, for a search that stays on its device; `persistent` computes it there.
"""

import torch
from torch import Tensor

from regard.ops.best_words import fused, naive, native, persistent
from regard.ops.best_words.naive import Allowed as Allowed
from regard.ops.native import native_applies
from regard.ops.paths import fused_wanted
from regard.ops.shapes import Float, Int

__all__ = ["Allowed", "best_allowed", "best_words"]


def best_words(
    logits: Float[Tensor, "R V"], k: int, banned: Int[Tensor, "n"] | None = None
) -> tuple[Float[Tensor, "R k"], Int[Tensor, "R k"]]:
    """Log p of the k most probable words of each row, and their columns, by the fastest path; see `naive`."""
    if 0 < k <= native.MOST and native_applies(logits):
        return native.best_words(logits, k, banned)
    if fused_wanted():
        return fused.best_words(logits, k, banned)
    return naive.best_words(logits, k, banned)


def best_allowed(
    logits: Float[Tensor, "R V"], k: int, allowed: Allowed
) -> tuple[Float[Tensor, "R k"], Int[Tensor, "R k"]]:
    """As `best_words`, by rules that are tensors; by the fastest path."""
    if not fused_wanted():
        return naive.best_allowed(logits, k, allowed)
    if persistent.applies(logits, k):
        return persistent.best_allowed(logits, k, allowed)
    if logits.is_cuda:
        return fused.best_allowed(logits, k, allowed)
    return _by_places(logits, k, allowed)


def _by_places(logits: Tensor, k: int, allowed: Allowed) -> tuple[Tensor, Tensor]:
    """By `best_words`, where asking which rows a rule concerns does not mean to wait for a device."""
    num_rows, size = logits.shape
    rows = torch.arange(num_rows, device=logits.device) * size  # (R,), where each begins
    places = [(rows.unsqueeze(1) + allowed.banned).flatten(), rows[~allowed.may_end] + allowed.end]
    of_end = logits.new_zeros(num_rows, dtype=torch.promote_types(logits.dtype, torch.float32))
    if bool(allowed.must_end.any()):
        of_end = logits.to(of_end.dtype).log_softmax(dim=-1)[:, allowed.end].clone()
    log_probs, columns = best_words(logits, k, torch.cat(places))
    return fused.only_end(log_probs, columns, of_end, allowed)
