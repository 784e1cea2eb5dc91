"""The windows of Luong's local attention: where in the source a step may attend (Luong et al. 2015, §3.2).

Positions of the source and steps of the target are counted from 1. The source's length S counts its EOS, which
is at S and can be attended to. Where the target is longer than the source by more than D, a step attends to the end
mark; the paper leaves that case open.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

import torch
from torch import Tensor, nn

from regard.ops.attention import monotonic_positions, nearness, predicted_positions, within_window
from regard.ops.record import Equation, Equations
from regard.ops.shapes import Bool, Float, Int


class LocalWindow(nn.Module, ABC):
    """The window [p_t − D, p_t + D], cut off at the sentence's ends (Luong et al. 2015, §3.2).

    Args:
        window_size: D, in words to either side.
    """

    counts: ClassVar[bool]
    """Whether p_t depends on the number of the step."""
    equations: ClassVar[Equations]
    """Of the `position` p_t."""

    def __init__(self, window_size: int) -> None:
        super().__init__()
        self.window_size = window_size

    @abstractmethod
    def positions(
        self,
        query: Float[Tensor, "B Q n"],
        mask: Bool[Tensor, "B Tx"],
        steps: Int[Tensor, "B Q"] | None,
    ) -> Float[Tensor, "B Q"]:
        """Each query's p_t."""

    def narrow(
        self,
        energies: Float[Tensor, "B Q Tx"],
        mask: Bool[Tensor, "B Tx"],
        positions: Float[Tensor, "B Q"],
    ) -> Float[Tensor, "B Q Tx"]:
        """The energies, −∞ outside the window."""
        return within_window(energies, mask, positions, self.window_size)

    def weight(
        self, alpha: Float[Tensor, "B Q Tx"], mask: Bool[Tensor, "B Tx"], positions: Float[Tensor, "B Q"]
    ) -> Float[Tensor, "B Q Tx"]:
        """Alpha, weighted by the distance to p_t where the window does so."""
        return alpha

    def equation(self, alpha: Equation) -> Equation:
        """The equation of alpha within the window, from that of alpha everywhere."""
        return replace(alpha, papers=f"{alpha.papers}, |j − p_t| ≤ {self.window_size}")


class LocalM(LocalWindow):
    """local-m: p_t = t, for source and target in nearly the same order.

    Args:
        window_size: D, in words to either side.
    """

    counts = True
    equations: ClassVar[Equations] = {"position": Equation("p_t = t", axis="number")}

    def positions(
        self,
        query: Float[Tensor, "B Q n"],
        mask: Bool[Tensor, "B Tx"],
        steps: Int[Tensor, "B Q"] | None,
    ) -> Float[Tensor, "B Q"]:
        """p_t = t, at most S + D, so that no window is empty."""
        assert steps is not None, "local-m needs the number of each step"
        return monotonic_positions(steps, mask, self.window_size)


class LocalP(LocalWindow):
    """local-p: p_t = S · σ(v_pᵀ tanh(W_p h_t)), and α falls off around it as a Gaussian with σ = D/2.

    As the paper has it, alpha is multiplied by the Gaussian and not normalised again: a row sums to at most 1.

    Args:
        query_size: n.
        window_size: D, in words to either side.
    """

    counts = False
    equations: ClassVar[Equations] = {
        "position": Equation("p_t = S · σ(v_pᵀ tanh(W_p s_{t−1}))", axis="number")
    }

    def __init__(self, query_size: int, window_size: int) -> None:
        super().__init__(window_size)
        self.W_p = nn.Parameter(nn.init.xavier_uniform_(torch.empty(query_size, query_size)))
        self.v_p = nn.Parameter(torch.empty(query_size).uniform_(-(query_size**-0.5), query_size**-0.5))

    def positions(
        self,
        query: Float[Tensor, "B Q n"],
        mask: Bool[Tensor, "B Tx"],
        steps: Int[Tensor, "B Q"] | None,
    ) -> Float[Tensor, "B Q"]:
        """p_t = S · σ(v_pᵀ tanh(W_p h_t)), Eq. 9."""
        return predicted_positions(query, mask, self.W_p, self.v_p)

    def weight(
        self, alpha: Float[Tensor, "B Q Tx"], mask: Bool[Tensor, "B Tx"], positions: Float[Tensor, "B Q"]
    ) -> Float[Tensor, "B Q Tx"]:
        """Alpha times exp(−(s − p_t)²/(2σ²)), Eq. 10."""
        return alpha * nearness(positions, mask, self.window_size).to(alpha.dtype)

    def equation(self, alpha: Equation) -> Equation:
        """With the Gaussian's factor."""
        symbol, _, value = alpha.papers.partition(" = ")
        near = f"exp(−2 (j − p_t)² / {self.window_size}²)"
        return super().equation(replace(alpha, papers=f"{symbol} = {near} · {value}"))


WINDOWS: dict[str, Callable[[int, int], LocalWindow | None]] = {
    "global": lambda query_size, window_size: None,
    "local-m": lambda query_size, window_size: LocalM(window_size),
    "local-p": LocalP,
}
"""(query size, D) → where a query may attend, by name; None for everywhere."""
