"""Which of two equivalent paths of an op runs: the naive definition, or the fused one, which is faster.

Each op's ``__init__`` calls `fused_wanted` and chooses there. The fused path is the default; `naive_only` turns it off
for a block: in tests, in teaching, and to check a number. So does a transform of `torch.func` (grad, vmap, jvp) and
forward-mode differentiation: backward passes derived by hand are opaque to them, and the naive path is not.
`torch.compile` leaves a recurrence out of its graphs (`untraced`), so it takes the path that it takes without.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import torch
from torch.autograd import forward_ad

from regard.errors import RegardError

_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")

_naive: ContextVar[bool] = ContextVar("naive", default=False)


def fused_wanted() -> bool:
    """Return whether ops should take their fused path."""
    return not fused_refused()


def fused_refused() -> str:
    """Why ops should take their naive path, a clause; empty if they should not."""
    if _naive.get():
        return "naive_only() is on"
    if torch.compiler.is_compiling():  # traces autograd's functions itself
        return ""
    if torch._C._are_functorch_transforms_active():
        return "a transform of torch.func is active"
    if forward_ad._current_level >= 0:
        return "forward-mode differentiation is active"
    return ""


@contextmanager
def naive_only() -> Iterator[None]:
    """Run every op inside the block by its naive path."""
    token = _naive.set(True)
    try:
        yield
    finally:
        _naive.reset(token)


def untraced(loop: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
    """Leave a loop over time out of the graphs of `torch.compile`, which goes on before and after it.

    Traced, a loop is as many copies of its step as there are steps, for each length anew: an update of a model for
    three words took minutes to compile, and would then run without the kernels.
    """

    @wraps(loop)
    def run(*args: _Given.args, **kwargs: _Given.kwargs) -> _Made:
        if not torch.compiler.is_compiling():
            return loop(*args, **kwargs)
        # not as a decorator: it imports the compiler, which takes as long as to import torch
        called: Callable[_Given, _Made] = torch.compiler.disable(loop)  # type: ignore[no-untyped-call]
        return called(*args, **kwargs)

    return run


def first_derivative_only(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Refuse a second derivative of a backward pass derived by hand.

    Torch's `once_differentiable` does not refuse it if the incoming gradient is a constant, as from a sum: the second
    derivative would be silently lost.
    """

    @wraps(backward)
    def refusing(ctx: Any, *gradients: Any) -> Any:
        if torch.is_grad_enabled():
            raise RegardError(
                f"{backward.__module__} has a first derivative only; for a second one (create_graph=True) compute it "
                "within regard.ops.paths.naive_only()"
            )
        return backward(ctx, *gradients)

    return refusing
