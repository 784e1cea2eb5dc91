"""Attention in two directions from one matrix of energies, each with a null word; and its losses.

e_ij of target word i and source word j is normalised over the source words and null, α→_ij, and over the target words
and null, α←_ij. Null takes what a word is not linked to; its energies n_i and n_j are the words' own.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from regard.ops.shapes import Bool, Float


class TwoWay(NamedTuple):
    """log α of both directions.

    Attributes:
        forward: (B, I, J + 1), of each target word over the source words and, last, null.
        backward: (B, I + 1, J), of each source word over the target words and, last, null.
    """

    forward: Float[Tensor, "B I J1"]
    backward: Float[Tensor, "B I1 J"]

    @property
    def alphas(self) -> tuple[Tensor, Tensor]:
        """α→ and α←, (B, I, J) both, without null."""
        return self.forward[:, :, :-1].exp(), self.backward[:, :-1].exp()


def two_way_softmax(
    energies: Float[Tensor, "B I J"],
    target_nulls: Float[Tensor, "B I"],
    source_nulls: Float[Tensor, "B J"],
    target_mask: Bool[Tensor, "B I"],
    source_mask: Bool[Tensor, "B J"],
) -> TwoWay:
    """α→_i = softmax_j(e_i1, …, e_iJ, n_i) and α←_j = softmax_i(e_1j, …, e_Ij, n_j).

    Args:
        energies: e.
        target_nulls: n_i, the energy of null for each target word.
        source_nulls: n_j, the energy of null for each source word.
        target_mask: True at words.
        source_mask: True at words.

    Returns:
        log α; padding has a probability of 0, that is −∞.
    """
    nothing = float("-inf")
    over_sources = energies.masked_fill(~source_mask.unsqueeze(1), nothing)
    over_targets = energies.masked_fill(~target_mask.unsqueeze(2), nothing)
    return TwoWay(
        torch.cat((over_sources, target_nulls.unsqueeze(2)), dim=2).log_softmax(dim=2),
        torch.cat((over_targets, source_nulls.unsqueeze(1)), dim=1).log_softmax(dim=1),
    )


def guided_two_way(
    log_alphas: TwoWay,
    links: tuple[Float[Tensor, "B I J"], Float[Tensor, "B I J"]],
    target_mask: Bool[Tensor, "B I"],
    source_mask: Bool[Tensor, "B J"],
) -> Tensor:
    """−Σ_i (Σ_j G_ij log α→_ij + G_i0 log α→_i0), and the same of α←, with expected links G (Garg et al. 2019, Eq. 5).

    Args:
        log_alphas: of both directions.
        links: G of α→ and of α←, from 0 to 1, 0 on padding; what a word's links leave of 1 is null's, G_i0, and where
            they are more than 1 together they are divided by their sum.
        target_mask: True at words.
        source_mask: True at words.

    Returns:
        The sum over all words of both sides.
    """
    loss = links[0].new_zeros(())
    ways = (log_alphas.forward, 2, target_mask), (log_alphas.backward, 1, source_mask)
    for own, (logs, axis, mask) in zip(links, ways, strict=True):
        total = own.sum(dim=axis, keepdim=True)
        null = (1 - total).clamp_min(0) * mask.unsqueeze(axis)
        wanted = torch.cat((own / total.clamp_min(1), null), dim=axis)
        # α of padding is 0, whose logarithm must not be multiplied by 0
        loss = loss - (wanted * logs.masked_fill(wanted == 0, 0)).sum()
    return loss


def disagreement(forward: Float[Tensor, "B I J"], backward: Float[Tensor, "B I J"]) -> Tensor:
    """Σ_ij (α→_ij − α←_ij)², 0 where both directions agree (Cheng, Shen et al. 2016, square of subtraction)."""
    return (forward - backward).square().sum()
