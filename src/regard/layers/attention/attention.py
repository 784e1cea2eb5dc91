"""One interface for every attention: query, keys, values and mask in; context and alpha out.

A subclass says what its keys are, computed once a sentence, and how energies follow from queries and keys. What comes
after the energies is the same for all and may be chosen: the normaliser that makes alpha of them, and a window that
limits where a query may look. Several queries at once are the rule, not the exception: the steps of a whole target
sentence, or the hypotheses of a beam, against one copy of the source.

What one step leaves for the next (the step's number, the coverage) goes in and comes out as a value; nothing is kept
on the module.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from regard.layers.attention.local import Window
from regard.ops.attention import forced_alpha, masked_softmax
from regard.ops.shapes import Bool, Float, Int

AttentionState = tuple[Tensor, ...]
"""What an attention carries from step to step, rows first; empty for most."""

Normalizer = Callable[[Tensor, Tensor], Tensor]
"""(energies (B, Q, Tx), mask (B, Tx)) → alpha."""


class Attended(NamedTuple):
    """What attention gives back.

    Attributes:
        context: (B, Q, d), one for each query.
        alpha: (B, Q, Tx), each row summing to 1 over real words (to less where local-p weighs it by nearness); with
            several heads, their mean.
        carried: for the next step.
    """

    context: Tensor
    alpha: Tensor
    carried: AttentionState = ()


class Attention(nn.Module, ABC):
    """A way to score queries of `query_size` against annotations of `annotation_size`.

    Attributes:
        query_size: None where queries come projected already; the attention then owns no query matrix.
        query_width: how wide a projected query is.
        sized: whether a size means something to this kind of attention: its third argument.
        covering: whether it has a tanh that the coverage can join: its fourth argument, whether it does.
        heads: how many alphas a query has.
        normalize: energies → alpha.
        window: where a query may look; None for everywhere.
        w_c: the coverage's vector inside the tanh; None for an attention that does not look back.
    """

    sized: ClassVar[bool] = False
    covering: ClassVar[bool] = False
    heads: int = 1
    w_c: nn.Parameter | None

    def __init__(self, query_size: int | None, annotation_size: int, query_width: int) -> None:
        super().__init__()
        self.query_size = query_size
        self.annotation_size = annotation_size
        self.query_width = query_width
        self.normalize: Normalizer = masked_softmax
        self.window: Window | None = None
        self.register_parameter("w_c", None)

    @abstractmethod
    def keys(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx p"]:
        """What the queries are compared with; needs no query, so it is computed once a sentence."""

    def values(self, annotations: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Tx d"]:
        """What the context is a mean of: the annotations, unless they are projected; once a sentence too."""
        return annotations

    def queries(self, query: Float[Tensor, "B Q n"]) -> Float[Tensor, "B Q p"]:
        """What is compared with the keys: the query, unless it is projected."""
        return query

    @abstractmethod
    def score(
        self, projected: Float[Tensor, "B Q p"], keys: Float[Tensor, "B Tx k"]
    ) -> Float[Tensor, "B HQ Tx"]:
        """How well each projected query matches each key; with several heads, each one's rows in turn."""

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
        """How well each query matches each key."""
        return self.score(self.queries(query), keys)

    def mix(self, alpha: Float[Tensor, "B HQ Tx"], values: Float[Tensor, "B Tx d"]) -> Float[Tensor, "B Q d"]:
        """The context (Eq. 5): c_i = Σ_j α_ij h_j."""
        return torch.bmm(alpha, values)

    @property
    def sequential(self) -> bool:
        """Whether a query's alpha depends on the alphas before it."""
        return self.w_c is not None

    @property
    def plain(self) -> bool:
        """Whether nothing but a softmax stands between energies and alpha, and no step leaves anything for the next."""
        return self.normalize is masked_softmax and self.window is None and self.w_c is None

    @property
    def _counts(self) -> bool:
        return self.window is not None and self.window.counts

    def start(self, mask: Bool[Tensor, "B Tx"]) -> AttentionState:
        """What is carried before the first step: no steps done, nothing covered."""
        steps = (mask.new_zeros(mask.shape[0], dtype=torch.long),) if self._counts else ()
        covered = () if self.w_c is None else (self.w_c.new_zeros(mask.shape),)
        return steps + covered

    def forward(
        self,
        query: Float[Tensor, "B Q n"],
        keys: Float[Tensor, "B Tx k"],
        values: Float[Tensor, "B Tx d"],
        mask: Bool[Tensor, "B Tx"],
        carried: AttentionState = (),
        forced: Int[Tensor, " B"] | None = None,
    ) -> Attended:
        """Attend with queries side by side: energies, alpha (Eq. 6), context (Eq. 5).

        Args:
            query: Q for each sentence, none of them later than another.
            keys: from `keys`.
            values: from `values`.
            mask: True where a real word stands.
            carried: from `start` or the last step, B·Q rows; () before the first step.
            forced: the word all queries of a sentence must look at; negative, or None for all, to look freely.
        """
        alpha, carried = self._align(query, keys, mask, carried, forced)  # (B, H·Q, Tx)
        return Attended(self.mix(alpha, values), self._mean(alpha), carried)

    def whole(
        self,
        query: Float[Tensor, "B Ty n"],
        keys: Float[Tensor, "B Tx k"],
        values: Float[Tensor, "B Tx d"],
        mask: Bool[Tensor, "B Tx"],
    ) -> Attended:
        """Attend with all steps of a sentence from its first: at once, or in turn where one needs the one before."""
        batch, num_steps = query.shape[:2]
        if not self.sequential:
            done = torch.arange(num_steps, device=mask.device).repeat(batch)
            return self.forward(query, keys, values, mask, (done,) if self._counts else ())
        carried, contexts, alphas = self.start(mask), [], []
        for t in range(num_steps):
            context, alpha, carried = self.forward(query[:, t : t + 1], keys, values, mask, carried)
            contexts.append(context)
            alphas.append(alpha)
        return Attended(torch.cat(contexts, dim=1), torch.cat(alphas, dim=1), carried)

    def by_head(
        self,
        query: Float[Tensor, "B Q n"],
        keys: Float[Tensor, "B Tx k"],
        mask: Bool[Tensor, "B Tx"],
        carried: AttentionState = (),
    ) -> Float[Tensor, "B H Q Tx"]:
        """Each head's own alpha; arguments as for `forward`."""
        alpha, _ = self._align(query, keys, mask, carried)
        return alpha.view(query.shape[0], self.heads, query.shape[1], -1)

    def _align(
        self,
        query: Tensor,
        keys: Tensor,
        mask: Tensor,
        carried: AttentionState,
        forced: Tensor | None = None,
    ) -> tuple[Tensor, AttentionState]:
        """Each head's alpha (B, H·Q, Tx), and what is carried on."""
        batch, num_queries = query.shape[:2]
        if not carried:
            carried = tuple(part.repeat_interleave(num_queries, dim=0) for part in self.start(mask))
        steps = carried[0].view(batch, num_queries) + 1 if self._counts else None
        projected = self.queries(query)
        if self.w_c is None:
            energies = self.score(projected, keys)
        else:
            covered = carried[-1]
            energies = self.covered_score(projected, keys, covered.view(batch, num_queries, -1))
        if self.window is None:
            alpha = self.normalize(energies, mask)
        else:
            positions = self.window.positions(query, mask, steps).repeat(1, self.heads)  # (B, H·Q)
            alpha = self.normalize(self.window.narrow(energies, mask, positions), mask)
            alpha = self.window.weigh(alpha, mask, positions)
        if forced is not None:
            alpha = forced_alpha(alpha, forced)
        after: AttentionState = () if steps is None else (steps.flatten(),)
        if self.w_c is not None:
            after += (covered + self._mean(alpha).flatten(0, 1),)
        return alpha, after

    def _mean(self, alpha: Tensor) -> Tensor:
        """The mean over heads, (B, Q, Tx)."""
        if self.heads == 1:
            return alpha
        return alpha.view(alpha.shape[0], self.heads, -1, alpha.shape[2]).mean(dim=1)
