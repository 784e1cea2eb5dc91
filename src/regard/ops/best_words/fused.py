"""The most probable words, chosen among the logits: only the k words' log-probabilities are computed."""

import torch
from torch import Tensor

from regard.ops.best_words.naive import Allowed
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


def best_allowed(
    logits: Float[Tensor, "R V"], k: int, allowed: Allowed
) -> tuple[Float[Tensor, "R k"], Int[Tensor, "R k"]]:
    """As `naive`, ties included on every device; the host waits for nothing."""
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    total = logits.logsumexp(dim=-1, keepdim=True)  # (R, 1)
    of_end = logits[:, allowed.end] - total.squeeze(1)  # (R,)
    logits.index_fill_(1, allowed.banned, float("-inf"))
    logits[:, allowed.end].masked_fill_(~allowed.may_end, float("-inf"))
    best, columns = _first_of_equals(logits, k)
    return only_end(best - total, columns, of_end, allowed)


def only_end(
    log_probs: Float[Tensor, "R k"],
    columns: Int[Tensor, "R k"],
    of_end: Float[Tensor, "R"],
    allowed: Allowed,
) -> tuple[Float[Tensor, "R k"], Int[Tensor, "R k"]]:
    """The same candidates, but EOS alone, with its log p, for rows that must end."""
    must_end = allowed.must_end.unsqueeze(1)  # (R, 1)
    ending = torch.full_like(log_probs, float("-inf"))
    ending[:, 0] = of_end
    return torch.where(must_end, ending, log_probs), columns.masked_fill(must_end, allowed.end)


def _first_of_equals(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest of each row, of equal ones the first, without looking for ties.

    A number and its column are one integer, whose order is theirs; of float64 that would not fit into 64 bits.
    """
    if logits.dtype != torch.float32:
        return _sorted(logits, k)
    bits = (logits + 0.0).view(torch.int32)  # −0 becomes 0, which it equals
    rising = torch.where(bits < 0, bits ^ 0x7FFFFFFF, bits).long()  # as integers ordered like the numbers
    backwards = 0xFFFFFFFF - torch.arange(logits.shape[1], device=logits.device)
    keys = ((rising << 32) | backwards).topk(k, dim=-1).values
    columns = 0xFFFFFFFF - (keys & 0xFFFFFFFF)
    return logits.gather(1, columns), columns
