"""Weights rounded as in `packed`, in torch: for the tests of the kernels, and where there are none."""

import torch
from torch import Tensor

from regard.ops.native.packed import Precision
from regard.ops.shapes import Float, Int


def to_int8(W: Float[Tensor, "n m"]) -> tuple[Int[Tensor, "n m"], Float[Tensor, "n"]]:
    """Each row as whole numbers from −127 to 127, and the unit they are counted in."""
    most = W.abs().amax(dim=1)  # (n,)
    times = torch.where(most > 0, torch.full_like(most, 127) / most, 0)
    # the kernels round the exact product, once
    return torch.round(W.double() * times.double().unsqueeze(1)).to(torch.int32), most / 127


def rounded(W: Float[Tensor, "n m"], precision: Precision) -> Float[Tensor, "n m"]:
    """W as it is after rounding, in its own type."""
    match precision:
        case "int8":
            whole, unit = to_int8(W)
            return whole * unit.unsqueeze(1)
        case "bfloat16":
            return W.bfloat16().to(W.dtype)
    return W
