"""The annotations of a sentence → one vector: the last state, the mean, or attention pooling.

In: annotations, their mask, and the encoder's last state. Out: one vector as wide as an annotation, and alpha where it
is learnt.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.ops.attention import additive_energies, attend
from regard.ops.shapes import Bool, Float


class Pooled(NamedTuple):
    """The result of pooling.

    Attributes:
        vector: (B, d).
        alpha: (B, T), each row summing to 1 over real words; None where it is not learnt.
    """

    vector: Tensor
    alpha: Tensor | None


class LastPooling(nn.Module):
    """The encoder's last state, of both directions where there are two."""

    def forward(
        self, annotations: Float[Tensor, "B T d"], mask: Bool[Tensor, "B T"], last: Float[Tensor, "B d"]
    ) -> Pooled:
        """See `Pooled`."""
        return Pooled(last, None)


class MeanPooling(nn.Module):
    """The mean annotation of the real words."""

    def forward(
        self, annotations: Float[Tensor, "B T d"], mask: Bool[Tensor, "B T"], last: Float[Tensor, "B d"]
    ) -> Pooled:
        """See `Pooled`."""
        real = torch.where(mask.unsqueeze(-1), annotations, 0.0)
        return Pooled(real.sum(dim=1) / mask.sum(dim=1, keepdim=True), None)  # (B, d)


class AttentionPooling(nn.Module):
    """α_j = softmax_j v_aᵀ tanh(q + U_a h_j), then Σ_j α_j h_j, with one learnt query q for all sentences.

    The word attention of Yang et al. 2016 (§2.2, Eqs.
    5–7), their b_w is our q, their u_w our v_a.

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
        self, annotations: Float[Tensor, "B T d"], mask: Bool[Tensor, "B T"], last: Float[Tensor, "B d"]
    ) -> Pooled:
        """See `Pooled`."""
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
