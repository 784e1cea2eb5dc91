"""Whether an op runs as a C kernel: on a CPU, in float32, if the kernels could be compiled and are not turned off."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

from regard.ops.native.library import load
from regard.ops.paths import fused_refused

_off: ContextVar[Collection[str]] = ContextVar("native_off", default=())
_ALL = "all"


@contextmanager
def native_off(*ops: str) -> Iterator[None]:
    """Run every op inside the block by its path in torch; or only some, by the names that `explain` gives them."""
    token = _off.set((*_off.get(), *(ops or (_ALL,))))
    try:
        yield
    finally:
        _off.reset(token)


def narrow_wanted() -> bool:
    """Return whether autocast allows products in bfloat16 here."""
    return torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") == torch.bfloat16


def native_applies(weight: Tensor, *others: Tensor, op: str = "") -> bool:
    """Return whether an op with this weight and these other tensors runs as C kernels; see `native_refuses`."""
    return not native_refuses(weight, *others, op=op)


def native_refuses(weight: Tensor, *others: Tensor, op: str = "") -> str:
    """Why an op with this weight and these other tensors does not run as C kernels; empty if it does.

    Args:
        weight: float32; its width is that of the result.
        others: float32 as well, or narrowed to bfloat16 by mixed precision, which the kernels widen again.
        op: its name, where `native_off` may name it.
    """
    if reason := fused_refused():
        return reason
    if _ALL in _off.get() or op in _off.get():
        return "native_off() is on"
    if torch.compiler.is_compiling():
        return "torch.compile is tracing"
    device = next((each.device.type for each in (weight, *others) if each.device.type != "cpu"), "cpu")
    if device != "cpu":
        return f"tensors are on {device}"
    if weight.dtype != torch.float32:
        return f"parameters are {_name(weight.dtype)}, not float32"
    widths = (torch.float32, torch.bfloat16)
    wrong = next((each.dtype for each in others if each.dtype not in widths), None)
    if wrong is not None:
        return f"inputs are {_name(wrong)}, not float32"
    found = load()
    if found.library is None:
        return found.reason
    if torch.is_autocast_enabled("cpu") and not narrow_wanted():
        return f"autocast wants {_name(torch.get_autocast_dtype('cpu'))}, which the kernels do not multiply"
    return ""


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
