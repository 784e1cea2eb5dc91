"""Guided alignment: gold links as a training signal for alpha.

Chen, Matusov, Khadivi & Peter 2016 (§3): the cross-entropy −Σ_j G_ij log α_ij of each target word, its links sharing a
weight of 1. A word without a link costs nothing.
"""

import torch
from torch import Tensor

from regard.ops.shapes import Bool, Float

LEAST = 1e-12
"""Added to alpha, so that the cost of a zero (of sparsemax, of a window) is large but finite.

Small enough that a softmax that is sure of the wrong word, by 20 units of energy, still has a gradient; a floor
(`clamp_min`) would have none there.
"""


def guided_alignment(
    alpha: Float[Tensor, "B Ty Tx"], gold: Float[Tensor, "B Ty Tx"]
) -> Float[Tensor, "B Ty"]:
    """−Σ_j G_ij log α_ij at each target position.

    Args:
        alpha: from the decoder.
        gold: a positive weight at each link, mostly 1, and 0 elsewhere (padding too); rows are normalised here.

    Returns:
        The cost of each target position, 0 where it has no link; summed and divided by the caller.
    """
    links = gold.sum(dim=-1, keepdim=True)  # (B, Ty, 1)
    shares = gold / torch.where(links > 0, links, 1.0)
    # outside the links alpha may be 0, whose logarithm must not be taken
    alpha = alpha.to(torch.promote_types(alpha.dtype, torch.float32))
    logs = (torch.where(gold > 0, alpha, 1.0) + LEAST).log()
    return -(shares * logs).sum(dim=-1)


def link_rest_to_end(
    gold: Float[Tensor, "B Ty Tx"], source_mask: Bool[Tensor, "B Tx"]
) -> Float[Tensor, "B Ty Tx"]:
    """Link the target words that have no link to the source's EOS, which stands for no word.

    Args:
        gold: a positive weight at each link; a pair without any is left as it is, for its links are not known.
        source_mask: True at real words, EOS last.
    """
    alone = (gold.sum(dim=-1) == 0) & (gold.sum(dim=(1, 2)) > 0).unsqueeze(1)  # (B, Ty)
    is_end = torch.nn.functional.one_hot(source_mask.sum(dim=1) - 1, gold.shape[2])  # (B, Tx)
    return gold + (alone.unsqueeze(2) & is_end.bool().unsqueeze(1)).to(gold.dtype)
