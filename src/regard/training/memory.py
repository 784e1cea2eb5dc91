"""Freed memory is kept: an update asks for the same large tensors as the one before it.

glibc hands a block above 32 MB back to the system as soon as it is freed, and the system clears every page of the next
one before it may be written. That costs an update of a translator some percent of its time, for nothing.
"""

import ctypes

# the numbers of glibc's malloc.h
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_KEPT = 1 << 30  # bytes: larger blocks still come from the system, and go back to it


def keep_freed_memory() -> bool:
    """Ask the C library to keep what is freed, for this process and from now on.

    Returns:
        Whether it could be asked: other C libraries than glibc have no such thing, and are left alone.
    """
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version  # noqa: B018 (a probe: musl and macOS have none)
        ask = library.mallopt
    except (OSError, AttributeError, TypeError):
        return False
    return bool(ask(_MMAP_THRESHOLD, _KEPT) and ask(_TRIM_THRESHOLD, 2**31 - 1))
