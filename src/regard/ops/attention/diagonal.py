"""How far a pair of words is from the diagonal, where equal shares of both sentences come before them."""

import torch
from torch import Tensor

from regard.ops.shapes import Bool, Int


def diagonal_distances(
    target_mask: Bool[Tensor, "B Ty"], source_mask: Bool[Tensor, "B Tx"], most: int
) -> Int[Tensor, "B Ty Tx"]:
    """(i + ½) J / I − ½ − j in whole source words, from 0 for −`most` and below to 2 `most` for `most` and above.

    Args:
        target_mask: True at real words.
        source_mask: True at real words.
        most: distances beyond this one count as it.
    """
    device = source_mask.device
    num_sources, num_targets = (
        mask.sum(dim=1, keepdim=True).clamp_min(1) for mask in (source_mask, target_mask)
    )
    rows = (torch.arange(target_mask.shape[1], device=device) + 0.5) * num_sources / num_targets - 0.5
    columns = torch.arange(source_mask.shape[1], device=device)
    distances = rows.unsqueeze(2) - columns  # (B, Ty, Tx)
    return distances.round().long().clamp(-most, most) + most
