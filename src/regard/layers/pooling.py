"""The annotations of a sentence → one vector: the last state, the mean, or attention pooling.

In: annotations (B, T, d), their mask, and the encoder's last state. Out: one vector (B, d), and alpha if the pooling
has parameters.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.ops.attention import additive_energies, attend
from regard.ops.shapes import Bool, Float


class Pooled(NamedTuple):
    """The result of pooling.

    Attributes:
        vector: (B, d).
        alpha: (B, T), each row summing to 1 over real words; None for a pooling without parameters.
    """

    vector: Tensor
    alpha: Tensor | None


def _full_mask(annotations: Tensor) -> Tensor:
    return torch.ones(annotations.shape[:2], dtype=torch.bool, device=annotations.device)


class LastPooling(nn.Module):
    """The encoder's last state `last` (B, d): h_T, or [→h_T; ←h_1] of a bidirectional encoder."""

    def forward(
        self,
        annotations: Float[Tensor, "B T d"],
        mask: Bool[Tensor, "B T"] | None = None,
        last: Float[Tensor, "B d"] | None = None,
    ) -> Pooled:
        """The last state as it is, without alpha.

        Raises:
            ConfigError: `last` is missing.
        """
        if last is None:
            raise ConfigError("LastPooling: give the encoder's last state (B, d) as last=…")
        return Pooled(last, None)


class MeanPooling(nn.Module):
    """The mean of the annotations of real words: Σ_j h_j / T, (B, T, d) → (B, d)."""

    def forward(
        self,
        annotations: Float[Tensor, "B T d"],
        mask: Bool[Tensor, "B T"] | None = None,
        last: Float[Tensor, "B d"] | None = None,
    ) -> Pooled:
        """The mean over the real words of each row (all words if `mask` is None), without alpha."""
        mask = _full_mask(annotations) if mask is None else mask
        real = torch.where(mask.unsqueeze(-1), annotations, 0.0)
        return Pooled(real.sum(dim=1) / mask.sum(dim=1, keepdim=True), None)  # (B, d)


class AttentionPooling(nn.Module):
    """α_j = softmax_j v_aᵀ tanh(q + U_a h_j), then Σ_j α_j h_j, with one trained query q for all sentences.

    The word attention of Yang et al. 2016 (§2.2, Eqs. 5–7): their b_w is our q, their u_w our v_a. Annotations
    (B, T, d) → a vector (B, d) and alpha (B, T).

    Args:
        annotation_size: d.
        size: a, the alignment units.
    """

    def __init__(self, annotation_size: int, size: int) -> None:
        super().__init__()
        self.q = nn.Parameter(torch.zeros(size))
        self.U_a = nn.Parameter(nn.init.xavier_uniform_(torch.empty(size, annotation_size)))
        self.v_a = nn.Parameter(torch.empty(size).uniform_(-(size**-0.5), size**-0.5))

    def forward(
        self,
        annotations: Float[Tensor, "B T d"],
        mask: Bool[Tensor, "B T"] | None = None,
        last: Float[Tensor, "B d"] | None = None,
    ) -> Pooled:
        """The weighted mean over the real words of each row (all words if `mask` is None), and alpha."""
        mask = _full_mask(annotations) if mask is None else mask
        query = self.q.expand(annotations.shape[0], 1, -1)  # (B, 1, a)
        energies = additive_energies(query, annotations @ self.U_a.T, self.v_a)  # (B, 1, T)
        context, alpha = attend(energies, annotations, mask)
        return Pooled(context.squeeze(1), alpha.squeeze(1))


POOLINGS: dict[str, Callable[[int, int], nn.Module]] = {
    "last": lambda annotation_size, size: LastPooling(),
    "mean": lambda annotation_size, size: MeanPooling(),
    "attention": AttentionPooling,
}
"""(annotation size, alignment units) → the layer, by name."""
