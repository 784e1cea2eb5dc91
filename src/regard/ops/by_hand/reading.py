"""All reads of one memory in a pass, forwards and back: the source, or the own past as it is written.

Buffers are made once. The tanh of additive energies is computed again on the way back rather than kept, so memory grows
with T·slots and not with T·slots·a. The derivation is in README.md of `ops`.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.ops.by_hand.cells import outer


class Reading:
    """The reads of one memory.

    Args:
        keys: (B, slots, p); those of the own past are written as the steps go.
        values: (B, slots, d), in the same order.
        valid: (B, slots), True where a slot holds a real word.
        queries: (T, B, p): before the forward pass the input's part of them, if `adds`.
        alpha: (T, B, slots): zeros before the forward pass, and what it left there before the backward one.
        matrix: of what asks, (p, n); None where that itself is the query.
        v_a: (p,) for additive energies; None for dot products.
        scale: of dot products.
        adds: whether queries have a part that depends on the input.
        windows: the slots lo … hi − 1 that each step looks at.
        span: how many real slots of them a row reads; 0 for all.
    """

    def __init__(
        self,
        keys: Tensor,
        values: Tensor,
        valid: Tensor,
        queries: Tensor,
        alpha: Tensor,
        matrix: Tensor | None,
        v_a: Tensor | None,
        scale: float,
        *,
        adds: bool,
        windows: Sequence[tuple[int, int]],
        span: int = 0,
    ) -> None:
        self.keys, self.values, self.queries, self.alpha = keys, values, queries, alpha
        self.matrix, self.v_a, self.scale = matrix, v_a, scale
        self.adds, self.windows, self.span = adds, windows, span
        self.invalid = ~valid
        self.before = real_before(valid) if span else valid
        self._buffer = None if v_a is None else torch.empty_like(keys).flatten()

    def _hidden(self, query: Tensor, lo: int, hi: int) -> Tensor:
        """tanh(k_i + q) for the slots lo … hi − 1, (B, t, p), valid until the next call."""
        assert self._buffer is not None
        keys = self.keys[:, lo:hi]
        hidden = self._buffer[: keys.numel()].view(keys.shape)
        return torch.add(keys, query.unsqueeze(1), out=hidden).tanh_()

    def _unread(self, lo: int, hi: int) -> Tensor:
        """Which of the slots lo … hi − 1 a row does not read (B, t): padding, and what its span does not reach."""
        unread = self.invalid[:, lo:hi]
        if not self.span:
            return unread
        return unread | (self.before[:, hi : hi + 1] - self.before[:, lo:hi] > self.span)

    def read(self, t: int, asking: Tensor, out: Tensor) -> None:
        """Step t asks with a state (B, n) and reads into `out` (B, d)."""
        (lo, hi), query = self.windows[t], self.queries[t]
        if self.matrix is None:
            query.copy_(asking)
        elif self.adds:
            query.addmm_(asking, self.matrix.T)
        else:
            torch.mm(asking, self.matrix.T, out=query)
        if lo == hi:
            out.zero_()
            return
        if self.v_a is None:
            energies = torch.bmm(self.keys[:, lo:hi], query.unsqueeze(2)).squeeze(2).mul_(self.scale)
        else:
            energies = self._hidden(query, lo, hi).flatten(0, 1).mv(self.v_a).view(-1, hi - lo)  # (B, t)
        unread = self._unread(lo, hi)
        # finite, so that a row without any real slot has no NaN before it is set to 0
        energies.masked_fill_(unread, torch.finfo(energies.dtype).min)
        alpha = torch.softmax(energies, dim=-1, out=energies).masked_fill_(unread, 0.0)
        self.alpha[t, :, lo:hi] = alpha
        torch.bmm(alpha.unsqueeze(1), self.values[:, lo:hi], out=out.unsqueeze(1))

    def begin_backward(self, d_queries: Tensor, d_alpha: Tensor | None) -> None:
        """Take a buffer for ∂/∂queries (T, B, p) and what the loss takes of alpha; make what is gathered in."""
        num_steps, batch = self.alpha.shape[:2]
        self.d_queries, self.d_alpha = d_queries, d_alpha
        self.d_reads = self.values.new_empty(batch, num_steps, self.values.shape[2])
        self.d_keys = torch.zeros_like(self.keys)  # of additive energies, −Σ_t δe_ti u_ti²
        self.d_energies = self.keys.new_zeros(batch, self.keys.shape[1])  # Σ_t δe_ti
        self.d_v = None if self.v_a is None else torch.zeros_like(self.v_a)

    def back(self, t: int, d_read: Tensor) -> Tensor:
        """From ∂/∂(what step t read) (B, d) to ∂/∂(the state that asked) (B, n); keys and v_a gather theirs."""
        self.d_reads[:, t] = d_read
        (lo, hi), query, d_query = self.windows[t], self.queries[t], self.d_queries[t]
        if lo == hi:
            d_query.zero_()
        else:
            alpha = self.alpha[t, :, lo:hi]
            da = torch.bmm(self.values[:, lo:hi], d_read.unsqueeze(2)).squeeze(2)  # (B, t)
            if self.d_alpha is not None:
                da += self.d_alpha[t, :, lo:hi]
            de = alpha * (da - (alpha * da).sum(dim=-1, keepdim=True))  # softmax; 0 on padding
            self._energies_back(de, query, lo, hi, d_query)
        return d_query if self.matrix is None else d_query @ self.matrix

    def _energies_back(self, de: Tensor, query: Tensor, lo: int, hi: int, d_query: Tensor) -> None:
        """From ∂/∂energies (B, t) to ∂/∂query, into `d_query` (B, p)."""
        if self.v_a is None:
            de = de * self.scale
            self.d_keys[:, lo:hi].baddbmm_(de.unsqueeze(2), query.unsqueeze(1))
            torch.bmm(de.unsqueeze(1), self.keys[:, lo:hi], out=d_query.unsqueeze(1))
            return
        assert self.d_v is not None
        hidden = self._hidden(query, lo, hi)
        self.d_v.addmv_(hidden.flatten(0, 1).T, de.flatten())
        # ∂/∂(before tanh) = δe_i v_a ∘ (1 − u_i²), in two parts; Σ_i δe_i = 0, so the query sees the second alone
        self.d_energies[:, lo:hi] += de
        hidden.mul_(hidden)
        self.d_keys[:, lo:hi].addcmul_(hidden, de.unsqueeze(2), value=-1)
        torch.bmm(de.unsqueeze(1), hidden, out=d_query.unsqueeze(1))
        d_query.mul_(self.v_a).neg_()

    def d_value(self, slot: int, first: int) -> Tensor:
        """∂/∂(the value at a slot) (B, d), from the reads of the steps `first` and later."""
        weights = self.alpha[first:, :, slot].T.unsqueeze(1)  # (B, 1, reads)
        return torch.bmm(weights, self.d_reads[:, first:]).squeeze(1)

    def d_first_values(self, num_slots: int) -> Tensor:
        """∂/∂(the values the memory began with), (B, num_slots, d), after the backward pass of all steps."""
        return torch.bmm(self.alpha[:, :, :num_slots].permute(1, 2, 0), self.d_reads)

    def d_key(self, slot: int | slice) -> Tensor:
        """∂/∂(the key at a slot, or at some), from the steps whose backward pass is done."""
        if self.v_a is None:
            return self.d_keys[:, slot]
        return (self.d_keys[:, slot] + self.d_energies[:, slot].unsqueeze(-1)) * self.v_a

    def d_weights(self, name: str, asking: Tensor) -> dict[str, Tensor]:
        """∂/∂(the query's matrix) and ∂/∂v_a, by the memory's name; `asking`: the states that asked, (T, B, n)."""
        found = {} if self.matrix is None else {f"{name}_matrix": outer(self.d_queries, asking)}
        return found if self.d_v is None else {**found, f"{name}_v": self.d_v}


def real_before(valid: Tensor) -> Tensor:
    """The number of real slots before each slot, and before the end, (B, slots + 1)."""
    return torch.nn.functional.pad(valid.cumsum(dim=1), (1, 0))


def windows_of(valid: Tensor, num_steps: int, span: int, own: int = 0) -> Sequence[tuple[int, int]]:
    """Which slots lo … hi − 1 of its own past each of the last `num_steps` steps has to look at.

    Args:
        valid: (B, slots), True where a slot holds a real word; each step has its own.
        num_steps: T.
        span: how many real slots a row reads; 0 for all. Where rows are padded, some in a window are not for all rows.
        own: 1 if a step reads the slot it has just written, too.
    """
    num_first = valid.shape[1] - num_steps
    ends = range(num_first + own, num_first + own + num_steps)
    if not span:
        return [(0, hi) for hi in ends]
    before = real_before(valid)
    reached = (
        before[:, num_first + own : num_first + own + num_steps] - span
    )  # (B, T): as many lie too far back
    lows = torch.searchsorted(before, reached.contiguous()).amin(dim=0).tolist()
    return list(zip(lows, ends, strict=True))
