"""Whether a recurrence can run as kernels: where it is, in which precision, of which size.

Falling back is this one decision, made before anything runs. Triton is looked for, not imported.
"""

from functools import cache
from importlib.util import find_spec

import torch
from torch import Tensor

MOST_SLOTS = 512
"""How many words or slots attention reads at most: a row's energies are one tile high."""

MOST_UNITS = 4096
"""How wide a state, an annotation or a key may be: a row of each stands in one program's registers."""


@cache
def _capable(device: torch.device) -> bool:
    """Whether the GPU is of a kind these kernels were tried on: Hopper or later, whose programs share enough memory."""
    return find_spec("triton") is not None and torch.cuda.get_device_capability(device) >= (9, 0)


def computing_dtype(like: Tensor) -> torch.dtype:
    """What torch would compute a product of such a tensor in: mixed precision's type where that is on."""
    device = like.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else like.dtype


def kernels_apply(like: Tensor, slots: int, *widths: int, dtype: torch.dtype | None = None) -> bool:
    """Return whether a recurrence over such tensors runs as kernels.

    Args:
        like: one of the tensors. bfloat16 always; float32 only where torch may round products' factors to TF32
            (``torch.backends.cuda.matmul.allow_tf32``), as the kernels do.
        slots: how many words or slots attention reads at most.
        widths: of states, keys and annotations.
        dtype: what the kernels would compute in, where it is not that of `like`.
    """
    dtype = dtype or like.dtype
    if not like.is_cuda or slots > MOST_SLOTS or max(widths) > MOST_UNITS:
        return False
    rounded = dtype == torch.float32 and torch.backends.cuda.matmul.allow_tf32
    return (dtype == torch.bfloat16 or rounded) and _capable(like.device)
