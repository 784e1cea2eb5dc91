"""Whether an op runs as a C kernel: on a CPU, in float32, if the kernels could be compiled and are not turned off."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

from regard.ops.native.library import load
from regard.ops.paths import fused_wanted

_off: ContextVar[bool] = ContextVar("native_off", default=False)


@contextmanager
def native_off() -> Iterator[None]:
    """Run every op inside the block by its path in torch."""
    token = _off.set(True)
    try:
        yield
    finally:
        _off.reset(token)


def narrow_wanted() -> bool:
    """Return whether autocast requires products in bfloat16 here."""
    return torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") == torch.bfloat16


def native_applies(weight: Tensor, *others: Tensor) -> bool:
    """Return whether an op with this weight and these other tensors runs as C kernels.

    Args:
        weight: float32; its width is that of the result.
        others: float32 as well, or narrowed to bfloat16 by mixed precision, which the kernels widen again.
    """
    if weight.dtype != torch.float32 or not fused_wanted() or _off.get() or torch.compiler.is_compiling():
        return False
    widths = (torch.float32, torch.bfloat16)
    if weight.is_cuda or any(other.device.type != "cpu" or other.dtype not in widths for other in others):
        return False
    library = load().library
    if library is None or weight.device.type != "cpu":
        return False
    return not torch.is_autocast_enabled("cpu") or (narrow_wanted() and bool(library.regard_narrow()))
