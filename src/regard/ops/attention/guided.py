"""Guided alignment: gold links as a training signal for alpha.

Chen, Matusov, Khadivi & Peter 2016 (§3): the cross-entropy −Σ_j G_ij log α_ij of each target word, its links sharing a
weight of 1. A word without a link costs nothing.
"""

import torch
from torch import Tensor

from regard.ops.shapes import Float

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
