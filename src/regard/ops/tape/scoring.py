"""How a query is compared with a tape. Two families have a fused form; others implement the same protocol.

Queries come projected already: the recurrences make them, q_t = P x_t + S s_{t−1}.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

from torch import Tensor

from regard.ops.attention import additive_energies, attend, dot_energies
from regard.ops.record import Equation, record
from regard.ops.shapes import Bool, Float

ADDITIVE = {"energies": Equation("a^t_i = vᵀ tanh(W_h h_i + q_t)", "e_i = vᵀ tanh(W_h h_i + q_t)", "past")}
DOT = {"energies": Equation("a^t_i = q_tᵀ k_i", "e_i = q_tᵀ k_i", "past")}


@runtime_checkable
class Scoring(Protocol):
    """What a recurrence needs of an attention to its own past."""

    def keys(self, states: Tensor) -> Tensor:
        """(B, t, n) → (B, t, p), what queries are compared with."""

    def values(self, states: Tensor) -> Tensor:
        """(B, t, n) → (B, t, n), what is read; mostly the states themselves."""

    def attend(self, query: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """(B, Q, p) and a tape with at least one real slot per row → the context (B, Q, n), alpha (B, Q, t)."""


@dataclass(frozen=True)
class AdditiveScoring:
    """e_i = v_aᵀ tanh(U_a h_i + q).

    Attributes:
        U_a: the keys' matrix, (a, n); None where keys come made, as those of the source do.
        v_a: (a,).
    """

    U_a: Tensor | None
    v_a: Tensor
    scale: ClassVar[float] = 1.0

    @property
    def fused(self) -> tuple[Tensor | None, Tensor | None]:
        """The keys' matrix and v_a, as the fused recurrences take them."""
        return self.U_a, self.v_a

    def keys(self, states: Float[Tensor, "B t n"]) -> Float[Tensor, "B t a"]:
        """U_a h_i."""
        assert self.U_a is not None, "these keys are made elsewhere"
        return states @ self.U_a.T

    def values(self, states: Float[Tensor, "B t n"]) -> Float[Tensor, "B t n"]:
        """The states."""
        return states

    def attend(
        self,
        query: Float[Tensor, "B Q a"],
        keys: Float[Tensor, "B t a"],
        values: Float[Tensor, "B t d"],
        mask: Bool[Tensor, "B t"],
    ) -> tuple[Float[Tensor, "B Q d"], Float[Tensor, "B Q t"]]:
        """See `ops/attention/additive`."""
        energies = additive_energies(query, keys, self.v_a)  # (B, Q, t)
        record(ADDITIVE, energies=energies)
        return attend(energies, values, mask)


@dataclass(frozen=True)
class DotScoring:
    """e_i = scale · qᵀ k_i; k_i is h_i, or W_a h_i where a matrix is given (bilinear).

    Attributes:
        W_a: (p, n), or None.
        scale: 1, or 1/√p.
    """

    W_a: Tensor | None = None
    scale: float = 1.0

    @property
    def fused(self) -> tuple[Tensor | None, Tensor | None]:
        """The keys' matrix and no v_a, as the fused recurrences take them."""
        return self.W_a, None

    def keys(self, states: Float[Tensor, "B t n"]) -> Float[Tensor, "B t p"]:
        """h_i or W_a h_i."""
        return states if self.W_a is None else states @ self.W_a.T

    def values(self, states: Float[Tensor, "B t n"]) -> Float[Tensor, "B t n"]:
        """The states."""
        return states

    def attend(
        self,
        query: Float[Tensor, "B Q p"],
        keys: Float[Tensor, "B t p"],
        values: Float[Tensor, "B t d"],
        mask: Bool[Tensor, "B t"],
    ) -> tuple[Float[Tensor, "B Q d"], Float[Tensor, "B Q t"]]:
        """See `ops/attention/dot`."""
        energies = dot_energies(query, keys) * self.scale  # (B, Q, t)
        record(DOT, energies=energies)
        return attend(energies, values, mask)
