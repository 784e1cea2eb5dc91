"""The arguments of C functions, from tensors."""

from typing import Any

import torch
from torch import Tensor

from regard.ops.native.library import load


def kernels() -> Any:
    """The loaded library; call it only if `native_applies`."""
    library = load().library
    assert library is not None, "no kernels: call native_applies first"
    return library


def at(tensor: Tensor | None) -> int | None:
    """The address of a tensor's data; a null pointer for None. The caller keeps the tensor alive."""
    return None if tensor is None else tensor.data_ptr()


def plain(tensor: Tensor) -> Tensor:
    """Float32, contiguous, without a gradient."""
    return tensor.detach().to(torch.float32).contiguous()


def flags(mask: Tensor) -> Tensor:
    """The mask, contiguous, one byte per flag."""
    assert mask.dtype == torch.bool, f"a mask is bool, not {mask.dtype}"
    return mask.contiguous()


def empty(*shape: int) -> Tensor:
    """A buffer for a kernel's output: float32 on the CPU, whatever torch's defaults are."""
    return torch.empty(shape, dtype=torch.float32, device="cpu")


def zeros(*shape: int) -> Tensor:
    """As `empty`, for a kernel that adds to it or leaves some of it out."""
    return torch.zeros(shape, dtype=torch.float32, device="cpu")


def threads_for(rows: int) -> int:
    """The number of threads for `rows` rows: at least two rows each, so that none waits for the others."""
    return max(1, min(torch.get_num_threads(), rows // 2))
