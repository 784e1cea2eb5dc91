"""Files that appear whole or not at all, and folders to hold them.

In: a path and what fills a binary file. Out: the file, under its own name only once all of it is on the disk;
until then what stood there before stays, whatever happens: a full disk, a signal, a fault.
"""

import os
import secrets
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from regard.errors import DataError


def write_whole(path: str | PathLike[str], fill: Callable[[BinaryIO], object]) -> None:
    """Write beside the path, flush to the disk, and move into place.

    Args:
        path: the file to write.
        fill: writes the content into an open file.

    Raises:
        DataError: the file cannot be written.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        try:
            with temporary.open("xb") as file:
                fill(file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise DataError(
            f"{target}: cannot be written ({reason}); free some space, or choose a folder that exists and can be "
            "written to"
        ) from error


def write_whole_text(path: str | PathLike[str], text: str) -> None:
    """Write a UTF-8 text file as a whole; see `write_whole`."""
    write_whole(path, lambda file: file.write(text.encode("utf-8")))


def make_folder(path: Path) -> None:
    """Make a folder and those above it, unless it is there.

    Raises:
        DataError: it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be made ({error.strerror or error}); choose another folder"
        ) from error


def free_folder(path: Path, taken: Callable[[Path], bool]) -> Path:
    """The path itself, or with a number behind it where that is taken.

    Args:
        path: the folder wished for; it has a name.
        taken: whether a folder may not be written to.
    """
    number, free = 2, path
    while taken(free):
        free = path.with_name(f"{path.name}-{number}")
        number += 1
    return free
