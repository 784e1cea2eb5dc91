"""What every attention shares: queries, annotations and a mask in; context and alpha out.

A subclass defines its keys, computed once per sentence, and the energies of queries and keys. What follows the energies
is the same for all: the normaliser that turns them into alpha, and a window that limits where a query may attend.
Several queries are taken at once: the steps of a whole target sentence, or the hypotheses of a beam, over one copy of
the source. What one step leaves for the next (the step's number, the coverage) goes in and comes out as a value;
nothing is kept on the module.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from regard.layers.attention.windows import LocalWindow
from regard.ops.attention import forced_alpha, masked_softmax, sparsemax
from regard.ops.native import PackedWeights
from regard.ops.record import Equation, Equations, record
from regard.ops.shapes import Bool, Float, Int

AttentionState = tuple[Tensor, ...]
"""What an attention carries from one step to the next, one row per hypothesis; empty for most attentions."""

Normalizer = Callable[[Tensor, Tensor], Tensor]
"""(energies (B, Q, Tx), mask (B, Tx)) → alpha."""

NORMALIZERS: dict[str, Normalizer] = {"softmax": masked_softmax, "sparsemax": sparsemax}
"""How energies become alpha, by name."""


EQUATIONS: dict[str, Equation] = {
    "query": Equation("q_t = s_{t−1}"),
    "keys": Equation("k_j = h_j"),
    "values": Equation("v_j = h_j"),
    "coverage": Equation("C_tj = Σ_{k<t} α_kj", axis="source"),
    "energies": Equation("e_tj = a(s_{t−1}, h_j)", axis="source"),
    "context": Equation("c_t = Σ_j α_tj h_j"),
    "heads": Equation("c_t = W_O [c^{(1)}_t; …; c^{(H)}_t]"),
    "softmax": Equation("α_tj = exp(e_tj) / Σ_k exp(e_tk)", axis="source"),
    "sparsemax": Equation("α_tj = max(e_tj − τ_t, 0)", axis="source"),
}
"""What every attention has, unless its class says more in its `equations`; heads: where there are several; of the
last two, one gives alpha."""


class Attended(NamedTuple):
    """The result of attention.

    Attributes:
        context: (B, Q, r), one for each query; r is d, the annotations' width, unless values are projected to another.
        alpha: (B, Q, Tx), each row summing to 1 over real words (below 1 where local-p weights it by distance); with
            several heads, their mean.
        state: for the next step.
    """

    context: Tensor
    alpha: Tensor
    state: AttentionState = ()


class EnergyWeights(NamedTuple):
    """An energy as fast ops take it: v_aᵀ tanh(W_q s + W_k h), or scale · (W_q s)ᵀ(W_k h).

    Attributes:
        W_q: the query's matrix, (p, n); None where queries are not multiplied.
        W_k: the keys' matrix, (p, d); None where annotations are compared as they are.
        v_a: (p,) of additive energies; None for dot products.
        scale: of dot products.
        as_printed: whether the naive path multiplies neither query nor keys beforehand, so that its `keys` are others.
    """

    W_q: Tensor | None
    W_k: Tensor | None
    v_a: Tensor | None = None
    scale: float = 1.0
    as_printed: bool = False


_SUMMED_UP = frozenset(("keys", "values", "queries", "score", "energies", "mix", "attend"))
"""The methods that `Attention.energy_weights` sums up."""


class Attention(nn.Module, ABC):
    """Base of the attentions: queries of `query_size` attend to annotations of `annotation_size`.

        context, alpha, _ = attention(query, annotations, mask)

    query (B, Ty, n), annotations (B, Tx, d), mask (B, Tx); context (B, Ty, d), alpha (B, Ty, Tx). A decoder computes
    `keys` and `values` once per sentence and then calls `attend` at each step.

    Args:
        query_size: n; None where queries come projected, so that the attention owns no query matrix.
        annotation_size: d.
        query_width: p, the width of a projected query.

    Attributes:
        sized: whether this kind of attention has a size, its third argument.
        covering: whether coverage can be added inside its tanh; `coverage` is then its fourth argument.
        heads: the number of alphas per query.
        context_size: r, the width of values and context: d, unless the values are projected to another.
        normalize: energies → alpha.
        window: where a query may attend; None for everywhere.
        w_c: the coverage's vector inside the tanh; None without coverage.
        packed: its matrices as they were packed for decoding; None in training.
    """

    sized: ClassVar[bool] = False
    covering: ClassVar[bool] = False
    equations: ClassVar[Equations] = {}
    """Of query, keys, values, energies and context, where they are not as in `EQUATIONS`."""
    heads: int = 1
    packed: PackedWeights | None = None
    w_c: nn.Parameter | None

    def __init__(self, query_size: int | None, annotation_size: int, query_width: int) -> None:
        super().__init__()
        self.query_size = query_size
        self.annotation_size = annotation_size
        self.query_width = query_width
        self.context_size = annotation_size
        self.normalize: Normalizer = masked_softmax
        self.window: LocalWindow | None = None
        self.register_parameter("w_c", None)

    def __init_subclass__(cls, **options: Any) -> None:
        """A class that computes something else than its base, and does not say what, has no weights for fast ops."""
        super().__init_subclass__(**options)
        if _SUMMED_UP & vars(cls).keys() and "energy_weights" not in vars(cls):
            cls.energy_weights = Attention.energy_weights  # type: ignore[method-assign]

    def energy_weights(self) -> EnergyWeights | None:
        """The energy as fast ops take it; None for one that they do not compute."""
        return None

    @property
    def fast_weights(self) -> EnergyWeights | None:
        """`energy_weights`, of an attention with one head whose alpha is the softmax of its energies and no more."""
        return self.energy_weights() if self.plain and self.heads == 1 else None

    @abstractmethod
    def keys(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx p"]:
        """What the queries are compared with, computed once per sentence."""

    def values(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx r"]:
        """What the context is a weighted mean of, computed once per sentence: the annotations, unless projected."""
        return annotations

    @property
    def projects_values(self) -> bool:
        """Whether the values are other than the annotations."""
        return type(self).values is not Attention.values

    def queries(self, query: Float[Tensor, "B Q n"]) -> Float[Tensor, "B Q p"]:
        """What is compared with the keys: the query, unless it is projected."""
        return query

    @abstractmethod
    def score(
        self, projected: Float[Tensor, "B Q p"], keys: Float[Tensor, "B Tx k"]
    ) -> Float[Tensor, "B HQ Tx"]:
        """The energies of each projected query and key; with several heads, the rows of each head in turn."""

    def covered_score(
        self,
        projected: Float[Tensor, "B Q p"],
        keys: Float[Tensor, "B Tx k"],
        coverage: Float[Tensor, "B Q Tx"],
    ) -> Float[Tensor, "B Q Tx"]:
        """`score` for an attention with `w_c`."""
        raise NotImplementedError(f"{type(self).__name__} has no tanh for the coverage to join")

    def energies(
        self, query: Float[Tensor, "B Q n"], keys: Float[Tensor, "B Tx k"]
    ) -> Float[Tensor, "B HQ Tx"]:
        """The energy of each query and key."""
        return self.score(self.queries(query), keys)

    def mix(self, alpha: Float[Tensor, "B HQ Tx"], values: Float[Tensor, "B Tx r"]) -> Float[Tensor, "B Q r"]:
        """The context (Eq. 5): c_i = Σ_j α_ij h_j."""
        return torch.bmm(alpha, values)

    @property
    def sequential(self) -> bool:
        """Whether a query's alpha depends on the alphas before it."""
        return self.w_c is not None

    @property
    def plain(self) -> bool:
        """Whether alpha is the softmax of the energies and no step depends on the one before."""
        return self.normalize is masked_softmax and self.window is None and self.w_c is None

    @property
    def _counts(self) -> bool:
        return self.window is not None and self.window.counts

    def initial_state(self, mask: Bool[Tensor, "B Tx"]) -> AttentionState:
        """The state before the first step: no steps done, nothing covered."""
        steps = (mask.new_zeros(mask.shape[0], dtype=torch.long),) if self._counts else ()
        covered = () if self.w_c is None else (self.w_c.new_zeros(mask.shape),)
        return steps + covered

    def forward(
        self,
        query: Float[Tensor, "B Ty n"],
        annotations: Float[Tensor, "B Tx d"],
        mask: Bool[Tensor, "B Tx"] | None = None,
    ) -> Attended:
        """Attend with the queries of a target sentence's steps, from the first on.

        Args:
            query: (B, Ty, n).
            annotations: (B, Tx, d).
            mask: (B, Tx), True at real words; None if nothing is padded.

        Returns:
            Context (B, Ty, d), alpha (B, Ty, Tx), and the state after the last step.
        """
        if mask is None:
            mask = torch.ones(annotations.shape[:2], dtype=torch.bool, device=annotations.device)
        return self.attend_sequence(query, self.keys(annotations), self.values(annotations), mask)

    def attend(
        self,
        query: Float[Tensor, "B Q n"],
        keys: Float[Tensor, "B Tx k"],
        values: Float[Tensor, "B Tx r"],
        mask: Bool[Tensor, "B Tx"],
        state: AttentionState = (),
        forced: Int[Tensor, " B"] | None = None,
    ) -> Attended:
        """Attend with queries of the same step: energies, alpha (Eq. 6), context (Eq. 5).

        Args:
            query: Q for each sentence, such as the hypotheses of a beam.
            keys: from `keys`.
            values: from `values`.
            mask: True at real words.
            state: from `initial_state` or the last step, B·Q rows; () before the first step.
            forced: the word that all queries of a sentence must attend to; negative, or None for all, if not forced.
        """
        alpha, state = self._align(query, keys, mask, state, forced)  # (B, H·Q, Tx)
        context = self.mix(alpha, values)  # (B, Q, d)
        record(self.written(), context=context)
        return Attended(context, self._mean(alpha), state)

    def written(self) -> dict[str, Equation]:
        """The equations of all its parts, alpha's among them."""
        name = "softmax" if self.normalize is masked_softmax else "sparsemax"
        alpha = EQUATIONS[name]
        if self.window is not None:
            alpha = self.window.equation(alpha)
        equations = {**EQUATIONS, "alpha": alpha, **self.equations}
        if self.heads > 1:
            equations["context"] = EQUATIONS["heads"]
        return equations if self.w_c is None else {**equations, "energies": equations["covered"]}

    def attend_sequence(
        self,
        query: Float[Tensor, "B Ty n"],
        keys: Float[Tensor, "B Tx k"],
        values: Float[Tensor, "B Tx r"],
        mask: Bool[Tensor, "B Tx"],
    ) -> Attended:
        """Attend with all steps of a sentence: at once, or in turn where a step depends on the one before."""
        batch, num_steps = query.shape[:2]
        if not self.sequential:
            done = torch.arange(num_steps, device=mask.device).repeat(batch)
            return self.attend(query, keys, values, mask, (done,) if self._counts else ())
        state, contexts, alphas = self.initial_state(mask), [], []
        for t in range(num_steps):
            context, alpha, state = self.attend(query[:, t : t + 1], keys, values, mask, state)
            contexts.append(context)
            alphas.append(alpha)
        return Attended(torch.cat(contexts, dim=1), torch.cat(alphas, dim=1), state)

    def alpha_by_head(
        self,
        query: Float[Tensor, "B Q n"],
        keys: Float[Tensor, "B Tx k"],
        mask: Bool[Tensor, "B Tx"],
        state: AttentionState = (),
    ) -> Float[Tensor, "B H Q Tx"]:
        """Each head's own alpha; arguments as for `attend`."""
        alpha, _ = self._align(query, keys, mask, state)
        return alpha.view(query.shape[0], self.heads, query.shape[1], -1)

    def _align(
        self,
        query: Tensor,
        keys: Tensor,
        mask: Tensor,
        state: AttentionState,
        forced: Tensor | None = None,
    ) -> tuple[Tensor, AttentionState]:
        """Each head's alpha (B, H·Q, Tx), and the next state."""
        batch, num_queries = query.shape[:2]
        if not state:
            state = tuple(part.repeat_interleave(num_queries, dim=0) for part in self.initial_state(mask))
        steps = state[0].view(batch, num_queries) + 1 if self._counts else None
        projected, equations = self.queries(query), self.written()
        if projected is not query:
            record(equations, query=projected)
        if self.w_c is None:
            energies = self.score(projected, keys)
        else:
            covered = state[-1]
            record(equations, coverage=covered)
            energies = self.covered_score(projected, keys, covered.view(batch, num_queries, -1))
        record(equations, energies=energies)
        if self.window is None:
            alpha = self.normalize(energies, mask)
        else:
            positions = self.window.positions(query, mask, steps).repeat(1, self.heads)  # (B, H·Q)
            alpha = self.normalize(self.window.narrow(energies, mask, positions), mask)
            alpha = self.window.weight(alpha, mask, positions)
            record(self.window.equations, position=positions)
        if forced is not None:
            alpha = forced_alpha(alpha, forced)
        record(equations, alpha=alpha)
        after: AttentionState = () if steps is None else (steps.flatten(),)
        if self.w_c is not None:
            after += (covered + self._mean(alpha).flatten(0, 1),)
        return alpha, after

    def _mean(self, alpha: Tensor) -> Tensor:
        """The mean over heads, (B, Q, Tx)."""
        if self.heads == 1:
            return alpha
        return alpha.view(alpha.shape[0], self.heads, -1, alpha.shape[2]).mean(dim=1)
