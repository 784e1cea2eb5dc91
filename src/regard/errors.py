"""Errors a user can fix: each message names the value, the place and the remedy.

Everything the package raises on purpose is a `RegardError`; the command line prints its message and
exits with status 2. Anything else is a bug and keeps its traceback.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class RegardError(Exception):
    """Base of all errors meant for the user.

    Attributes:
        is_shared: whether every one of the processes that work together raises it, so that one message is enough.
    """

    is_shared = False


class DataError(RegardError):
    """A file, a line or a corpus that cannot be used as it is."""


class ConfigError(RegardError):
    """An option with an unknown name, a value that is not allowed, or in conflict with another."""


class FolderError(RegardError):
    """A model folder that is missing, damaged, foreign or newer than this package."""


class CheckpointError(RegardError):
    """A checkpoint that could not be written; the one before it is untouched."""


class MissingExtraError(RegardError):
    """An optional dependency is needed and absent."""

    def __init__(self, purpose: str, package: str, extra: str) -> None:
        self._given = (purpose, package, extra)
        super().__init__(
            f"{purpose} needs {package}, which is not installed: pip install {package} (it is in the extra {extra!r})"
        )

    def __reduce__(self) -> "tuple[type[MissingExtraError], tuple[str, str, str]]":
        return MissingExtraError, self._given  # so that it can cross to another process


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory is too small, of a GPU or of the machine."""
    if (
        isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
    ):  # torch's, if it is imported
        return True
    return isinstance(error, RuntimeError) and "DefaultCPUAllocator" in str(error)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint for a misspelt name: the nearest right one, or the whole list.

    Args:
        name: what the user wrote.
        known: the allowed names.
    """
    names = sorted(known)
    close = get_close_matches(name, names, n=1, cutoff=0.6)
    listed = ", ".join(names)
    return f"did you mean {close[0]!r}? (known: {listed})" if close else f"known: {listed}"
