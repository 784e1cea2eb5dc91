"""Which of two equivalent paths of an op runs: the naive definition, or the fused one, which is faster.

Each op's ``__init__`` calls `fused_wanted` and chooses there. The fused path is the default; `naive_only` turns it off
for a block: in tests, in teaching, and to check a number.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

import torch

from regard.errors import RegardError

_naive: ContextVar[bool] = ContextVar("naive", default=False)


def fused_wanted() -> bool:
    """Return whether ops should take their fused path."""
    return not _naive.get()


@contextmanager
def naive_only() -> Iterator[None]:
    """Run every op inside the block by its naive path."""
    token = _naive.set(True)
    try:
        yield
    finally:
        _naive.reset(token)


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
