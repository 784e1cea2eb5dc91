"""Forced attention: all of a step's alpha on one given word."""

import torch
from torch import Tensor

from regard.ops.shapes import Float, Int


def forced_alpha(alpha: Float[Tensor, "B HQ Tx"], positions: Int[Tensor, " B"]) -> Float[Tensor, "B HQ Tx"]:
    """α_ij = 1 at j = positions_b and 0 elsewhere, for every query of sentence b; unchanged if positions_b < 0.

    Args:
        alpha: as computed.
        positions: of real words, counted from 0; negative for a sentence whose attention is free.
    """
    one_hot = torch.nn.functional.one_hot(positions.clamp_min(0), alpha.shape[2]).to(alpha.dtype)  # (B, Tx)
    return torch.where((positions >= 0).view(-1, 1, 1), one_hot.unsqueeze(1), alpha)
