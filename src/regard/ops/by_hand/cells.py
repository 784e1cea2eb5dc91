"""One step of a cell and its derivative, on buffers that hold all steps; time comes first.

Forwards, `gates` hold W x + b and all else that enters them, and become activations in place. Backwards, what depends
on no later step is computed for all steps before the loop (`begin_backward`), and the gradient of U is one large
product after it. The derivations are in README.md of `ops`.
"""

from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

Gradients = tuple[Tensor, Tensor | None, Tensor | None]
"""∂/∂(what U met), ∂/∂(the state that passes by U), ∂/∂(the memory before)."""


@runtime_checkable
class Cell(Protocol):
    """The steps of one cell.

    Attributes:
        gates: (T, B, gn).
    """

    gates: Tensor

    def step(
        self, t: int, state: Tensor, met: Tensor, before: Tensor | None, h: Tensor, c: Tensor | None
    ) -> None:
        """Step t into `h` and `c`, (B, n) each.

        Args:
            t: the step.
            state: the previous state, or what takes its place.
            met: the same after dropout, as U meets it.
            before: the previous memory, or what takes its place.
            h: the new state.
            c: the new memory.
        """

    def begin_backward(self, d_gates: Tensor, states: Tensor, met: Tensor, before: Tensor | None) -> None:
        """Take a buffer for ∂/∂gates (T, B, gn), and of all steps what `step` was given."""

    def back(self, t: int, dh: Tensor, dc: Tensor | None) -> Gradients:
        """From ∂/∂h and ∂/∂c, (B, n) each; writes ∂/∂(the gates of step t), and to `dc` ∂/∂c through h, too."""

    def d_weights(self) -> dict[str, Tensor]:
        """∂/∂(the cell's weights), by their names in `ops/recurrence`."""


def outer(d: Tensor, x: Tensor) -> Tensor:
    """Σ over steps (T) and rows (B) of d xᵀ, of (T, B, ·) each."""
    return d.flatten(0, 1).T @ x.flatten(0, 1)


class RNN:
    """h = f(x + U s)."""

    def __init__(self, gates: Tensor, U: Tensor, activation: str) -> None:
        self.gates, self.U, self.activation = gates, U, activation

    def step(
        self, t: int, state: Tensor, met: Tensor, before: Tensor | None, h: Tensor, c: Tensor | None
    ) -> None:
        """See `Cell`."""
        sum_ = self.gates[t].addmm_(met, self.U.T)
        h.copy_(sum_.tanh_() if self.activation == "rnn" else sum_.sigmoid_())

    def begin_backward(self, d_gates: Tensor, states: Tensor, met: Tensor, before: Tensor | None) -> None:
        """See `Cell`."""
        h, self.d_gates, self.met = self.gates, d_gates, met
        self.through = 1 - h * h if self.activation == "rnn" else h * (1 - h)

    def back(self, t: int, dh: Tensor, dc: Tensor | None) -> Gradients:
        """See `Cell`."""
        return torch.mul(dh, self.through[t], out=self.d_gates[t]) @ self.U, None, None

    def d_weights(self) -> dict[str, Tensor]:
        """See `Cell`."""
        return {"U": outer(self.d_gates, self.met)}


class GRU:
    """The paper's: z, r = σ(x + U s), s̃ = tanh(x + U (r ∘ s)), h = s + z ∘ (s̃ − s)."""

    def __init__(self, gates: Tensor, U: Tensor) -> None:
        self.gates, self.n = gates, U.shape[1]
        self.U_gates, self.U_candidate = U[: 2 * self.n], U[2 * self.n :]

    def step(
        self, t: int, state: Tensor, met: Tensor, before: Tensor | None, h: Tensor, c: Tensor | None
    ) -> None:
        """See `Cell`."""
        gates, n = self.gates[t], self.n
        gates[:, : 2 * n].addmm_(met, self.U_gates.T).sigmoid_()
        gates[:, 2 * n :].addmm_(gates[:, n : 2 * n] * met, self.U_candidate.T).tanh_()
        torch.lerp(state, gates[:, 2 * n :], gates[:, :n], out=h)

    def begin_backward(self, d_gates: Tensor, states: Tensor, met: Tensor, before: Tensor | None) -> None:
        """See `Cell`."""
        self.d_gates, self.met = d_gates, met
        self.update, self.reset, candidate = torch.split(self.gates, self.n, dim=-1)
        self.through_update = (candidate - states) * self.update * (1 - self.update)
        self.through_candidate = self.update * (1 - candidate * candidate)
        self.through_reset = met * self.reset * (1 - self.reset)

    def back(self, t: int, dh: Tensor, dc: Tensor | None) -> Gradients:
        """See `Cell`."""
        d, n = self.d_gates[t], self.n
        d_gated = torch.mul(dh, self.through_candidate[t], out=d[:, 2 * n :]) @ self.U_candidate  # ∂/∂(r ∘ s)
        torch.mul(dh, self.through_update[t], out=d[:, :n])
        torch.mul(d_gated, self.through_reset[t], out=d[:, n : 2 * n])
        d_met = (d_gated * self.reset[t]).addmm_(d[:, : 2 * n], self.U_gates)
        return d_met, dh - dh * self.update[t], None

    def d_weights(self) -> dict[str, Tensor]:
        """See `Cell`."""
        n = self.n
        two, one = (
            outer(self.d_gates[..., : 2 * n], self.met),
            outer(self.d_gates[..., 2 * n :], self.reset * self.met),
        )
        return {"U": torch.cat([two, one])}


class LSTM:
    """i, f, c̃, o from x + U s; c = f ∘ c′ + i ∘ c̃; h = o ∘ tanh c, or o ∘ c.

    Args:
        gates: (T, B, 4n), or (T, B, 5n) with the gate r of deep fusion, which adds r ∘ `fetched` to c.
        U: (4n, n).
        plain: whether h = o ∘ c.
        p: peepholes (3n,), by which i and f see c′, and o sees c.
        fetched: the memories read of the source, (T, B, n), filled by the time of each step.
        squashed: tanh c of all steps, (T, B, n), as an earlier forward pass left it; c itself if plain.
    """

    def __init__(
        self,
        gates: Tensor,
        U: Tensor,
        plain: bool = False,
        p: Tensor | None = None,
        fetched: Tensor | None = None,
        squashed: Tensor | None = None,
    ) -> None:
        self.gates, self.U, self.plain, self.fetched, self.n = gates, U, plain, fetched, U.shape[0] // 4
        self.p = None if p is None else p.view(3, self.n)
        self.squashed = gates.new_empty(*gates.shape[:2], self.n) if squashed is None else squashed

    def step(
        self, t: int, state: Tensor, met: Tensor, before: Tensor | None, h: Tensor, c: Tensor | None
    ) -> None:
        """See `Cell`."""
        assert before is not None
        assert c is not None
        gates, n = self.gates[t], self.n
        gates[:, : 4 * n].addmm_(met, self.U.T)
        if self.p is not None:
            gates[:, :n].addcmul_(before, self.p[0])
            gates[:, n : 2 * n].addcmul_(before, self.p[1])
        gates[:, : 2 * n].sigmoid_()
        gates[:, 2 * n : 3 * n].tanh_()
        if self.p is None:
            gates[:, 3 * n :].sigmoid_()
        i, f, candidate, o = (gates[:, k * n : (k + 1) * n] for k in range(4))
        torch.mul(f, before, out=c).addcmul_(i, candidate)
        if self.fetched is not None:
            c.addcmul_(gates[:, 4 * n :], self.fetched[t])
        if self.p is not None:
            o.addcmul_(c, self.p[2]).sigmoid_()
        if self.plain:
            self.squashed[t] = c
        else:
            torch.tanh(c, out=self.squashed[t])
        torch.mul(o, self.squashed[t], out=h)

    def begin_backward(self, d_gates: Tensor, states: Tensor, met: Tensor, before: Tensor | None) -> None:
        """See `Cell`."""
        assert before is not None
        self.d_gates, self.met, self.before = d_gates, met, before
        i, self.f, candidate, o, *fusion = torch.split(self.gates, self.n, dim=-1)
        inner = [candidate * i * (1 - i), before * self.f * (1 - self.f), i * (1 - candidate * candidate)]
        blocks = [*inner, self.squashed * o * (1 - o)]
        if self.fetched is not None:
            self.r = fusion[0]
            blocks.append(self.fetched * self.r * (1 - self.r))
        self.through = torch.stack(blocks, dim=2)  # (T, B, 4, n), or 5
        self.to_memory = o if self.plain else o * (1 - self.squashed * self.squashed)

    def back(self, t: int, dh: Tensor, dc: Tensor | None) -> Gradients:
        """See `Cell`."""
        assert dc is not None
        d, n = self.d_gates[t], self.n
        blocks, through = d.view(len(d), -1, n), self.through[t]
        torch.mul(dh, through[:, 3], out=blocks[:, 3])
        dc.addcmul_(dh, self.to_memory[t])
        if self.p is not None:
            dc.addcmul_(blocks[:, 3], self.p[2])
        torch.mul(dc.unsqueeze(1), through[:, :3], out=blocks[:, :3])
        d_before = dc * self.f[t]
        if self.p is not None:
            d_before.addcmul_(blocks[:, 0], self.p[0]).addcmul_(blocks[:, 1], self.p[1])
        if self.fetched is not None:
            torch.mul(dc, through[:, 4], out=blocks[:, 4])
        return d[:, : 4 * n] @ self.U, None, d_before

    def d_weights(self) -> dict[str, Tensor]:
        """See `Cell`."""
        d, n = self.d_gates, self.n
        found = {"U": outer(d[..., : 4 * n], self.met)}
        if self.p is not None:
            i, f, candidate = (self.gates[..., k * n : (k + 1) * n] for k in range(3))
            c = f * self.before + i * candidate
            pairs = ((d[..., :n], self.before), (d[..., n : 2 * n], self.before), (d[..., 3 * n : 4 * n], c))
            found["p"] = torch.cat([(one * other).sum(dim=(0, 1)) for one, other in pairs])
        return found
