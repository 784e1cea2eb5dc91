"""The most probable words, chosen among the logits: only the k words' log-probabilities are computed."""

import torch
from torch import Tensor

from regard.ops.shapes import Float, Int

_FEW_WORDS = 256  # up to this, the overhead of a call exceeds the work


def best_words(
    logits: Float[Tensor, "R V"], k: int, banned: Int[Tensor, "n"] | None = None
) -> tuple[Float[Tensor, "R k"], Int[Tensor, "R k"]]:
    """As `naive`, without a tensor as large as the logits. On a GPU, the order of ties is not defined."""
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    if logits.shape[1] <= _FEW_WORDS:
        log_probs = logits.log_softmax(dim=-1)
        if banned is not None:
            log_probs.view(-1).index_fill_(0, banned, float("-inf"))
        return _sorted(log_probs, k)
    total = logits.logsumexp(dim=-1, keepdim=True)  # (R, 1)
    if banned is not None:
        logits.view(-1).index_fill_(0, banned, float("-inf"))
    best, columns = _chosen(logits, k)
    return best.sub_(total), columns


def _sorted(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    ordered, columns = logits.sort(dim=-1, descending=True, stable=True)
    return ordered[:, :k], columns[:, :k]


def _chosen(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest of each row, of equal ones the first."""
    best, columns = logits.topk(min(k + 1, logits.shape[1]), dim=-1)
    if logits.is_cuda:  # to look for ties would be to wait for the device
        return best[:, :k], columns[:, :k]
    ties = best[:, 1:] == best[:, :-1]
    if bool(ties.any()):
        rows = ties.any(dim=1).nonzero().squeeze(1)
        again, where = _sorted(logits.index_select(0, rows), k)
        best[rows, :k], columns[rows, :k] = again, where
    return best[:, :k], columns[:, :k]
