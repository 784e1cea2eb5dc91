"""The alignment attention of a translator: it comes after a word is chosen, and aligns that word.

In: what a decoder computed of given words, and the words themselves. Out: weights; nothing is read with them.
"""

import torch
from torch import Tensor, nn

from regard.layers.feedforward import Embedding
from regard.ops.affine import affine
from regard.ops.attention import diagonal_distances, dot_energies, masked_softmax
from regard.ops.native import PackedWeights
from regard.ops.shapes import Bool, Float, Int

MOST_DISTANCE = 20
"""Distances to the diagonal above this one share a weight."""


class AlignmentAttention(nn.Module):
    """α_ij ∝ exp(q_iᵀ k_j + d_ij) with q_i = A_y y_i + W_a t_i and k_j = A_x x_j + U_a h_j.

    A decoder attends before it has chosen y_i, so that its alpha is a guess of the next word's place. This attention
    knows y_i (target foresight, Peter et al. 2017) beside the readout t_i, and each source word beside its annotation
    h_j; d_ij is a learned weight of the distance to the diagonal. No derivative goes back into t and h, as in Chen et
    al. 2020: translations are what they would be without it.

    Args:
        readout_size: l.
        annotation_size: d.
        source_size: Vx.
        target_size: Vy.
        size: a.
    """

    packed: PackedWeights | None = None

    def __init__(
        self, readout_size: int, annotation_size: int, source_size: int, target_size: int, size: int
    ) -> None:
        super().__init__()
        self.A_x, self.A_y = Embedding(source_size, size), Embedding(target_size, size)
        self.W_a = nn.Linear(readout_size, size, bias=False)
        self.U_a = nn.Linear(annotation_size, size, bias=False)
        self.d = nn.Parameter(torch.zeros(2 * MOST_DISTANCE + 1))

    def forward(
        self,
        readout: Float[Tensor, "B Ty l"],
        target_ids: Int[Tensor, "B Ty"],
        annotations: Float[Tensor, "B Tx d"],
        source_ids: Int[Tensor, "B Tx"],
        mask: Bool[Tensor, "B Tx"],
        target_mask: Bool[Tensor, "B Ty"],
    ) -> Float[Tensor, "B Ty Tx"]:
        """The weights of each target word over the source words, of which EOS, the last, stands for no word."""
        queries = self.A_y(target_ids) + affine(
            readout.detach(), self.W_a.weight, packed=self.packed
        )  # (B, Ty, a)
        keys = self.A_x(source_ids) + affine(
            annotations.detach(), self.U_a.weight, packed=self.packed
        )  # (B, Tx, a)
        energies = dot_energies(queries, keys.to(queries.dtype))
        energies = energies + self.d[diagonal_distances(target_mask, mask, MOST_DISTANCE)]
        return masked_softmax(energies, mask)
