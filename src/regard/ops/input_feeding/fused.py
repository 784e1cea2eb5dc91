"""Input feeding with its backward pass derived by hand, in plain torch; the same signature as `naive`.

W_c multiplies the annotations once per sentence, W_c h̄_s, so that a step needs no context: it sums vectors of l units,
and two products are left in it, [U, F] with [h_{t−1}; h̃_{t−1}] and W_a over the rest of W_c with h_t. The backward
loop carries ∂/∂h, ∂/∂h̃ and ∂/∂(the memory) and leaves the gradients of all matrices, and of what is summed, to large
products after it. The tanh of additive energies is computed again rather than kept. The derivation is in README.md of
`ops`.
"""

from typing import Any

import torch
from torch import Tensor

from regard.ops.paths import first_derivative_only
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState


class _Recurrence(torch.autograd.Function):
    """Time comes first in all that has it: projected (Ty, B, 4n) → readouts (Ty, B, l), alpha (Ty, B, Tx)."""

    @staticmethod
    def forward(
        ctx: Any,
        projected: Tensor,
        h0: Tensor,
        c0: Tensor,
        fed: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor,
        W_q: Tensor,
        v_a: Tensor | None,
        W: Tensor,
        dropped: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        (num_steps, batch, _), n, l = projected.shape, h0.shape[1], fed.shape[1]
        p = W_q.shape[0] - l  # of the query; 0 if the state itself is the query
        gates = projected.clone(memory_format=torch.contiguous_format)  # (Ty, B, 4n)
        carried = projected.new_empty(num_steps + 1, batch, n + l)  # [h_t; h̃_t]
        memories = projected.new_empty(num_steps + 1, batch, n)
        carried[0, :, :n], carried[0, :, n:], memories[0] = h0, fed, c0
        squashed = torch.empty_like(memories[1:])  # tanh of the memories
        asked = projected.new_empty(num_steps, batch, p + l)  # [the query; h̃_t before dropout]
        alpha = projected.new_empty(num_steps, batch, keys.shape[1])
        hidden = None if v_a is None else torch.empty_like(keys)  # (B, Tx, a)
        padding = ~mask
        for t in range(num_steps):
            gates[t].addmm_(carried[t], W.T)
            gates[t, :, : 2 * n].sigmoid_()
            gates[t, :, 2 * n : 3 * n].tanh_()
            gates[t, :, 3 * n :].sigmoid_()
            into, forget, candidate, out = torch.split(gates[t], n, dim=-1)
            torch.mul(forget, memories[t], out=memories[t + 1]).addcmul_(into, candidate)
            torch.tanh(memories[t + 1], out=squashed[t])
            h, fed = torch.split(carried[t + 1], [n, l], dim=-1)
            torch.mul(out, squashed[t], out=h)
            torch.mm(h, W_q.T, out=asked[t])
            query, attentional = (asked[t, :, :p] if p else h), asked[t, :, p:]
            energies = _energies(keys, query, v_a, hidden).masked_fill_(padding, float("-inf"))
            torch.softmax(energies, dim=-1, out=alpha[t])
            attentional.unsqueeze(1).baddbmm_(alpha[t].unsqueeze(1), values)
            attentional.tanh_()
            fed.copy_(attentional if dropped is None else attentional * dropped[t])
        ctx.save_for_backward(
            gates, carried, memories, squashed, asked, alpha, keys, values, W_q, v_a, W, dropped
        )
        return carried[1:, :, n:].contiguous(), alpha

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_readouts: Tensor, d_alpha: Tensor) -> tuple[Tensor | None, ...]:
        gates, carried, memories, squashed, asked, alpha, keys, values, W_q, v_a, W, dropped = (
            ctx.saved_tensors
        )
        (num_steps, batch, n), l = squashed.shape, values.shape[2]
        p = W_q.shape[0] - l
        states = carried[1:, :, :n]
        queries = asked[..., :p] if p else states
        through, to_memory = _factors(gates, memories[:-1], squashed)
        to_readout = 1 - asked[..., p:] ** 2  # (Ty, B, l)
        if dropped is not None:
            to_readout *= dropped
        d_gates, d_asked = torch.empty_like(gates), torch.empty_like(asked)
        d_energies = torch.empty_like(alpha)
        gathered = _Gathered(keys, v_a)
        back, dm = torch.zeros_like(carried[0]), torch.zeros_like(memories[0])  # back: ∂/∂[h; h̃]
        for t in reversed(range(num_steps)):
            dh, d_fed = torch.split(back, [n, l], dim=-1)
            # h̃_t and alpha
            dz = torch.mul(d_fed + d_readouts[t], to_readout[t], out=d_asked[t, :, p:])
            da = torch.bmm(values, dz.unsqueeze(2)).squeeze(2) + d_alpha[t]  # (B, Tx)
            de = torch.mul(alpha[t], da - (alpha[t] * da).sum(dim=-1, keepdim=True), out=d_energies[t])
            # the energies
            dq = gathered.back(de, queries[t])
            if p:
                d_asked[t, :, :p] = dq
            else:
                dh = dh + dq
            dh = torch.addmm(dh, d_asked[t], W_q)
            # the LSTM
            dm.addcmul_(dh, to_memory[t])
            blocks = d_gates[t].view(batch, 4, n)
            torch.mul(dm.unsqueeze(1), through[t, :, :3], out=blocks[:, :3])
            torch.mul(dh, through[t, :, 3], out=blocks[:, 3])
            dm *= gates[t, :, n : 2 * n]
            back = d_gates[t] @ W
        d_W = d_gates.flatten(0, 1).T @ carried[:-1].flatten(0, 1)
        d_W_q = d_asked.flatten(0, 1).T @ states.flatten(0, 1)
        d_values = torch.bmm(alpha.permute(1, 2, 0), d_asked[..., p:].transpose(0, 1))  # (B, Tx, l)
        d_keys, d_v = gathered.finish(d_energies, queries)
        return d_gates, back[:, :n], dm, back[:, n:], d_keys, d_values, None, d_W_q, d_v, d_W, None


def _energies(keys: Tensor, query: Tensor, v_a: Tensor | None, hidden: Tensor | None) -> Tensor:
    """One step's energies (B, Tx); `hidden` (B, Tx, a) is a buffer for the tanh of additive ones."""
    if v_a is None:
        return torch.bmm(keys, query.unsqueeze(2)).squeeze(2)
    return torch.add(keys, query.unsqueeze(1), out=hidden).tanh_() @ v_a


class _Gathered:
    """What the energies' backward pass gathers over the steps: ∂/∂keys and ∂/∂v_a."""

    def __init__(self, keys: Tensor, v_a: Tensor | None) -> None:
        self.keys = keys
        self.v_a = v_a
        if v_a is not None:
            self.hidden = torch.empty_like(keys)
            self.squares = torch.zeros_like(keys)  # Σ_t δe_tj u_tj²
            self.d_v = torch.zeros_like(v_a)

    def back(self, de: Tensor, query: Tensor) -> Tensor:
        """From one step's ∂/∂energies (B, Tx) to its ∂/∂query (B, a)."""
        if self.v_a is None:
            return torch.bmm(de.unsqueeze(1), self.keys).squeeze(1)
        torch.add(self.keys, query.unsqueeze(1), out=self.hidden).tanh_()
        self.d_v.addmv_(self.hidden.flatten(0, 1).T, de.flatten())
        # ∂/∂(before tanh) = δe_j v_a ∘ (1 − u_j²), in two parts; Σ_j δe_j = 0, so the query sees the second alone
        self.hidden.mul_(self.hidden)
        self.squares.addcmul_(self.hidden, de.unsqueeze(2))
        return torch.bmm(de.unsqueeze(1), self.hidden).squeeze(1).mul_(self.v_a).neg_()

    def finish(self, d_energies: Tensor, queries: Tensor) -> tuple[Tensor, Tensor | None]:
        """From all steps' ∂/∂energies (Ty, B, Tx) and queries (Ty, B, a) to ∂/∂keys (B, Tx, a) and ∂/∂v_a."""
        if self.v_a is None:
            return torch.bmm(d_energies.permute(1, 2, 0), queries.transpose(0, 1)), None
        return (d_energies.sum(dim=0).unsqueeze(2) - self.squares) * self.v_a, self.d_v


def _factors(gates: Tensor, before: Tensor, squashed: Tensor) -> tuple[Tensor, Tensor]:
    """Return what a step's gradient is multiplied by: to the gates (Ty, B, 4, n), and from h to the memory."""
    into, forget, candidate, out = torch.split(gates, squashed.shape[2], dim=-1)
    inner = [
        candidate * into * (1 - into),
        before * forget * (1 - forget),
        into * (1 - candidate * candidate),
    ]
    return torch.stack([*inner, squashed * out * (1 - out)], dim=2), out * (1 - squashed * squashed)


def input_feeding_lstm(
    projected: Float[Tensor, "B Ty gn"],
    initial: PlainState,
    fed: Float[Tensor, "B l"],
    keys: Float[Tensor, "B Tx a"],
    annotations: Float[Tensor, "B Tx d"],
    mask: Bool[Tensor, "B Tx"],
    W_a: Float[Tensor, "a n"] | None,
    v_a: Float[Tensor, "a"] | None,
    F: Float[Tensor, "4*n l"],
    U: Float[Tensor, "4*n n"],
    W_c: Float[Tensor, "l d+n"],
    dropped: Float[Tensor, "B Ty l"] | None,
) -> tuple[Float[Tensor, "B Ty l"], Float[Tensor, "B Ty Tx"]]:
    """All steps of the decoder's recurrence; see `naive`."""
    d = annotations.shape[2]
    values = annotations @ W_c[:, :d].T  # (B, Tx, l)
    W_h = W_c[:, d:]
    W_q = W_h if W_a is None else torch.cat([W_a, W_h])  # (a + l, n), or (l, n)
    # mixed precision narrows what comes in; the recurrence keeps the width of the parameters
    width = U.dtype
    h0, c0 = (part.to(width) for part in initial)
    with torch.autocast(projected.device.type, enabled=False):
        readouts, alpha = _Recurrence.apply(  # type: ignore[no-untyped-call]
            projected.transpose(0, 1).to(width),
            h0,
            c0,
            fed.to(width),
            keys.to(width),
            values.to(width),
            mask,
            W_q,
            v_a,
            torch.cat([U, F], dim=1),
            None if dropped is None else dropped.transpose(0, 1).to(width),
        )
    return readouts.transpose(0, 1), alpha.transpose(0, 1)
