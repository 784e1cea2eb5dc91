"""Whether a recurrence runs as Triton kernels: by device, precision and size.

The decision is made once, here, before anything runs. Triton is looked for, not imported.
"""

from functools import cache
from importlib.util import find_spec

import torch
from torch import Tensor

MOST_SLOTS = 512
"""The maximum number of words or slots that attention reads: a row's energies are one tile."""

MOST_UNITS = 4096
"""The maximum width of a state, an annotation or a key: a row of each is held in one program's registers."""


@cache
def _capable(device: torch.device) -> bool:
    """Whether the kernels were tested on this kind of GPU: Hopper or later, which have enough shared memory."""
    return find_spec("triton") is not None and torch.cuda.get_device_capability(device) >= (9, 0)


def can_run(like: Tensor) -> bool:
    """Return whether kernels without matrix products, exact in every precision, run on the tensor's device."""
    return like.is_cuda and _capable(like.device)


def computing_dtype(like: Tensor) -> torch.dtype:
    """The dtype in which torch would compute a product of such a tensor: autocast's, if that is on."""
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
