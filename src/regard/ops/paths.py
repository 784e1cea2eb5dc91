"""Which of two equal paths runs: the naive one that proves, or the fused one that is quick.

Each op's ``__init__`` asks `fused_wanted` and chooses there, in sight. The fused path is the default;
`naive_only` turns it off for a block, in tests, in lessons, and when a number looks odd.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

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
