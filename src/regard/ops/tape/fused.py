"""Reading a tape inside a recurrence whose backward pass is derived by hand.

Not an op by itself: the recurrences' autograd functions drive it, forwards a step at a time, backwards the same
steps in the opposite order. Buffers are made once. The tanh of additive energies is computed again on the way
back rather than kept, so memory grows with T² and not with T²·a. The derivation is in README.md of `ops`.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def tape_of(first: Tensor, num_steps: int) -> Tensor:
    """A tape (B, t0 + T, p) that starts with the given slots (B, t0, p); the rest is to be written."""
    batch, num_first, width = first.shape
    tape = first.new_empty(batch, num_first + num_steps, width)
    tape[:, :num_first] = first
    return tape


def written_tape(first: Tensor, new: Tensor, real: Tensor) -> Tensor:
    """The tape after a pass: the slots (B, t0, p) before it and those (T, B, p) it wrote, empty ones on padding."""
    return torch.cat([first, torch.where(real, new, 0.0).transpose(0, 1)], dim=1)


def last_real(states: Tensor, initial: Tensor, real: Tensor) -> Tensor:
    """The state (B, n) after the last real word: of states (T, B, n), real (T, B, 1); the first if there is none."""
    steps = torch.arange(1, real.shape[0] + 1, device=real.device).unsqueeze(1)
    index = (steps * real.squeeze(-1)).amax(dim=0)  # (B,): 0 where no word is real
    rows = torch.arange(real.shape[1], device=real.device)
    return torch.cat([initial.unsqueeze(0), states])[index, rows]


def at_words(x: Tensor, real: Tensor, reverse: bool) -> Tensor:
    """What each step gave (T, B, ·), zero on padding and at its word's position: (B, T, ·)."""
    x = torch.where(real, x, 0.0)
    return (x.flip(0) if reverse else x).transpose(0, 1)


class TapeReader:
    """All reads of one pass.

    Args:
        keys: the tape of keys (B, slots, p), written to by the recurrence as it goes.
        values: of the slots, (B, slots, d), in the same order.
        alpha: (T, B, slots): zeros before the forward pass, and what it left there before the backward one.
        valid: (B, slots), True where a slot holds a real word.
        v_a: (p,) for additive energies; None for dot products.
        scale: of dot products.
        span: how many real slots a step reads; 0 for all.
    """

    def __init__(
        self,
        keys: Tensor,
        values: Tensor,
        alpha: Tensor,
        valid: Tensor,
        v_a: Tensor | None,
        scale: float,
        span: int = 0,
    ) -> None:
        self.keys = keys
        self.values = values
        self.alpha = alpha
        self.invalid = None if bool(valid.all()) else ~valid
        self.span = span
        self.before = _real_before(valid)
        self.v_a = v_a
        self.scale = scale
        self._buffer = None if v_a is None else torch.empty_like(keys).flatten()

    def _hidden(self, query: Tensor, lo: int, hi: int) -> Tensor:
        """tanh(k_i + q) for the slots lo … hi − 1, (B, t, p), valid until the next call."""
        assert self._buffer is not None
        keys = self.keys[:, lo:hi]
        hidden = self._buffer[: keys.numel()].view(keys.shape)
        return torch.add(keys, query.unsqueeze(1), out=hidden).tanh_()

    def _unread(self, lo: int, hi: int) -> Tensor | None:
        """Which of the slots lo … hi − 1 a row does not read (B, t): padding, and what its span does not reach."""
        if self.invalid is None:
            return None
        unread = self.invalid[:, lo:hi]
        if not self.span:
            return unread
        return unread | (self.before[:, hi : hi + 1] - self.before[:, lo:hi] > self.span)

    def read(self, t: int, query: Tensor, lo: int, hi: int, out: Tensor) -> None:
        """Step t reads the slots lo … hi − 1 with a query (B, p), into `out` (B, d)."""
        if lo == hi:
            out.zero_()
            return
        if self.v_a is None:
            energies = torch.bmm(self.keys[:, lo:hi], query.unsqueeze(2)).squeeze(2).mul_(self.scale)
        else:
            energies = self._hidden(query, lo, hi).flatten(0, 1).mv(self.v_a).view(-1, hi - lo)  # (B, t)
        unread = self._unread(lo, hi)
        if unread is not None:
            # finite, so that a row without any real slot has no NaN before it is set to 0
            energies.masked_fill_(unread, torch.finfo(energies.dtype).min)
        alpha = energies.softmax(dim=-1)
        if unread is not None:
            alpha.masked_fill_(unread, 0.0)
        self.alpha[t, :, lo:hi] = alpha
        torch.bmm(alpha.unsqueeze(1), self.values[:, lo:hi], out=out.unsqueeze(1))

    def begin_backward(self) -> None:
        """Make what the backward pass gathers in."""
        num_steps, batch = self.alpha.shape[:2]
        self.d_reads = self.values.new_empty(batch, num_steps, self.values.shape[2])
        self.d_keys = torch.zeros_like(self.keys)  # of additive energies, −Σ_t δe_ti u_ti²
        self.d_energies = self.keys.new_zeros(batch, self.keys.shape[1])  # Σ_t δe_ti
        self.d_v = None if self.v_a is None else torch.zeros_like(self.v_a)

    def back(self, t: int, query: Tensor, lo: int, hi: int, d_read: Tensor, d_alpha: Tensor | None) -> Tensor:
        """From ∂/∂(what step t read) (B, d) and ∂/∂alpha (T, B, slots) to ∂/∂query; keys and v_a gather theirs."""
        self.d_reads[:, t] = d_read
        if lo == hi:
            return torch.zeros_like(query)
        alpha = self.alpha[t, :, lo:hi]
        da = torch.bmm(self.values[:, lo:hi], d_read.unsqueeze(2)).squeeze(2)  # (B, t)
        if d_alpha is not None:
            da += d_alpha[t, :, lo:hi]
        de = alpha * (da - (alpha * da).sum(dim=-1, keepdim=True))  # softmax; 0 on padding
        if self.v_a is None:
            de *= self.scale
            self.d_keys[:, lo:hi].baddbmm_(de.unsqueeze(2), query.unsqueeze(1))
            return torch.bmm(de.unsqueeze(1), self.keys[:, lo:hi]).squeeze(1)
        assert self.d_v is not None
        hidden = self._hidden(query, lo, hi)
        self.d_v.addmv_(hidden.flatten(0, 1).T, de.flatten())
        # ∂/∂(before tanh) = δe_i v_a ∘ (1 − u_i²), in two parts; Σ_i δe_i = 0, so the query sees the second alone
        self.d_energies[:, lo:hi] += de
        hidden.mul_(hidden)
        self.d_keys[:, lo:hi].addcmul_(hidden, de.unsqueeze(2), value=-1)
        return torch.bmm(de.unsqueeze(1), hidden).squeeze(1).mul_(self.v_a).neg_()

    def d_value(self, slot: int, first: int) -> Tensor:
        """∂/∂(the value at a slot) (B, d), from the reads of the steps `first` and later."""
        weights = self.alpha[first:, :, slot].T.unsqueeze(1)  # (B, 1, reads)
        return torch.bmm(weights, self.d_reads[:, first:]).squeeze(1)

    def d_first_values(self, num_slots: int) -> Tensor:
        """∂/∂(the values the tape began with), (B, num_slots, d), after the backward pass of all steps."""
        return torch.bmm(self.alpha[:, :, :num_slots].permute(1, 2, 0), self.d_reads)

    def d_key(self, slot: int | slice) -> Tensor:
        """∂/∂(the key at a slot, or at some), from the steps whose backward pass is done."""
        if self.v_a is None:
            return self.d_keys[:, slot]
        return (self.d_keys[:, slot] + self.d_energies[:, slot].unsqueeze(-1)) * self.v_a


def _real_before(valid: Tensor) -> Tensor:
    """The number of real slots before each slot, and before the end, (B, slots + 1)."""
    return torch.nn.functional.pad(valid.cumsum(dim=1), (1, 0))


def windows(valid: Tensor, num_steps: int, span: int, own: int = 0) -> Sequence[tuple[int, int]]:
    """Which slots lo … hi − 1 each of the last `num_steps` steps has to look at.

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
    before = _real_before(valid)
    reached = (
        before[:, num_first + own : num_first + own + num_steps] - span
    )  # (B, T): as many lie too far back
    lows = torch.searchsorted(before, reached.contiguous()).amin(dim=0).tolist()
    return list(zip(lows, ends, strict=True))
