"""Files that appear whole or not at all, folders with one writer at a time, and files that are read within bounds.

Writing: in a path, and a function that fills a binary file; out the file, under its own name only once all of it is on
disk; until then the previous file stays, whatever happens: a full disk, a signal, a bug. Reading: a file that may be
damaged or hostile, such as any in a model folder, costs neither more time nor more memory than its limits; what cannot
be used is an `OSError` or a `ValueError`, and the reader of the thing stored says what it means to the user.
"""

import json
import os
import re
import secrets
import shutil
import socket
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import is_dataclass
from os import PathLike
from pathlib import Path
from types import UnionType
from typing import Any, BinaryIO, TypeVar, get_args, get_origin, get_type_hints

from regard.errors import DataError

try:
    import fcntl
except ImportError:  # Windows, where folders are not locked
    fcntl = None  # type: ignore[assignment]

Value = TypeVar("Value")

LOCK = ".lock"
"""The file that the writer of a folder holds locked."""
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # the file is written: a link could lead to any of the user's


def write_whole(path: str | PathLike[str], fill: Callable[[BinaryIO], object]) -> None:
    """Write beside the path, flush to the disk, and move into place.

    Args:
        path: the file to write.
        fill: writes the content into an open file.

    Raises:
        DataError: the file cannot be written.
    """
    target = Path(path)
    temporary = _beside(target)
    try:
        try:
            with temporary.open("xb") as file:
                fill(file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
            _sync_folder(target.parent)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise DataError(
            f"{target}: cannot be written ({reason}); free some space, or choose a folder that exists and can be "
            "written to"
        ) from error


def link_whole(source: Path, path: Path) -> None:
    """Give a file a second name, in place of what has that name; a copy where the file system has no links.

    Raises:
        DataError: it cannot be written.
    """
    temporary = _beside(path)
    try:
        try:
            os.link(source, temporary)
            os.replace(temporary, path)  # which does nothing where both are names of one file
        finally:
            temporary.unlink(missing_ok=True)
    except OSError:
        with source.open("rb") as content:
            write_whole(path, lambda file: shutil.copyfileobj(content, file))


def _beside(path: Path) -> Path:
    """A hidden name in the same folder, for a file that is not complete."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}")


def _sync_folder(folder: Path) -> None:
    """Flush the names of a folder's files to the disk, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove_half_written(folder: Path) -> None:
    """Remove what writers that were killed left half written; call it only where nobody else writes."""
    for path in folder.glob(".*"):
        if re.fullmatch(r"\..+\.[0-9a-f]{8}", path.name) and not path.is_dir():
            remove_file(path)


def remove_file(path: Path) -> None:
    """Remove a file, unless there is none.

    Raises:
        DataError: it cannot be removed.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be removed ({error.strerror or error}); remove it by hand, or choose another folder"
        ) from error


def check_regular(path: str | PathLike[str]) -> None:
    """Raise unless a path leads to an ordinary file: reading a FIFO may never end, nor reading a device.

    Raises:
        OSError: it does not.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError("not an ordinary file")


def read_whole(path: str | PathLike[str], limit: int) -> bytes:
    """Read an ordinary file of at most `limit` bytes.

    Raises:
        OSError: it cannot be read, is not an ordinary file, or is larger.
    """
    check_regular(path)
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > limit:
            raise OSError(f"more than {limit:,} bytes")
        content = file.read(size + 1)  # Python takes memory for the size given here
    if len(content) > size:
        raise OSError("it has grown while it was read")
    return content


_MAX_HEADER_BYTES = 1 << 24


def check_safetensors(path: str | PathLike[str]) -> None:
    """Raise unless a path leads to an ordinary file with a header that can be parsed; see safetensors' format.

    Raises:
        OSError: it cannot be read, or is not an ordinary file.
        ValueError: it has no header, or too long a one.
    """
    check_regular(path)
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if not 0 < size <= min(_MAX_HEADER_BYTES, os.fstat(file.fileno()).st_size - 8):
            raise ValueError(f"a header of {size:,} bytes")


_MAX_DEPTH = 50


def check_depth(value: Any) -> None:
    """Raise where lists and tables are nested deeper than in any file of this package.

    Raises:
        ValueError: they are.
    """
    level: list[Any] = [[value]]
    depth = 0
    while level := [
        child
        for each in level
        for child in (each.values() if isinstance(each, dict) else each)
        if isinstance(child, dict | list)
    ]:
        depth += 1
        if depth > _MAX_DEPTH:
            raise ValueError(f"nested more than {_MAX_DEPTH} levels deep")


def parse_json(text: str | bytes) -> Any:
    """Read JSON whose nesting is bounded and whose strings can be written again.

    Raises:
        ValueError: it is not JSON, is nested too deeply, or has half of a surrogate pair.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    check_depth(value)
    if re.search(rb"\\u[dD]" if isinstance(text, bytes) else r"\\u[dD]", text):  # type: ignore[arg-type]
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


LARGEST = 2**53
"""No number in a file of this package is larger: up to here whole numbers and floats are the same."""


def build_dataclass(kind: type[Value], value: Any) -> Value:
    """Read a dataclass from the plain values of its fields, as `dataclasses.asdict` gives them.

    Fields are numbers, strings, dataclasses, lists and tables of these, and whatever may be None or anything.

    Raises:
        ValueError: a value is missing or of another type, or a whole number is below −1 or above `LARGEST`.
    """
    if not isinstance(value, dict):
        raise ValueError(f"{value!r:.60} in place of a table")
    hints = get_type_hints(kind)
    try:
        return kind(**{name: _build(hints[name], each, name) for name, each in value.items()})
    except (KeyError, TypeError) as error:
        raise ValueError(f"a name is wrong or missing ({error})") from error


def _build(hint: Any, value: Any, name: str) -> Any:
    of, members = get_origin(hint), get_args(hint)
    if is_dataclass(hint):
        return build_dataclass(hint, value)  # type: ignore[arg-type]
    if of is UnionType:  # something, or None
        return None if value is None else _build(members[0], value, name)
    if of is list and isinstance(value, list):
        return [_build(members[0], each, name) for each in value]
    if of in (dict, Mapping) and isinstance(value, dict):
        return {key: _build(members[1], each, name) for key, each in value.items()}
    if hint in (int, float) and type(value) is int and -1 <= value <= LARGEST:
        return value
    if hint is Any or (of is None and hint is not int and isinstance(value, hint)):
        return value
    raise ValueError(f"{name} is {value!r:.60}")


def write_whole_text(path: str | PathLike[str], text: str) -> None:
    """Write a UTF-8 text file as a whole; see `write_whole`."""
    write_whole(path, lambda file: file.write(text.encode("utf-8")))


def make_folder(path: Path) -> None:
    """Make a folder and its parents, unless they exist.

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
    """The path itself, or with a number appended if it is taken.

    Args:
        path: the preferred folder.
        taken: whether a folder is in use.
    """
    number, free = 2, path
    while taken(free):
        free = path.with_name(f"{path.name}-{number}")
        number += 1
    return free


@contextmanager
def one_writer(folder: Path) -> Iterator[None]:
    """Hold a folder, which is made if need be, for one writer; a folder that stays empty is removed at the end.

    The system holds the lock (flock) and frees it when its owner ends, however that ends: it is never left behind.

    Raises:
        DataError: another process is writing to the folder, or it cannot be made or written to.
    """
    made = not folder.exists()
    make_folder(folder)
    lock = _lock(folder)
    try:
        yield
    finally:
        (folder / LOCK).unlink(missing_ok=True)
        os.close(lock)
        if made:
            with suppress(OSError):
                folder.rmdir()


def _lock(folder: Path) -> int:
    """Open a folder's lock file and lock it; who holds it is written inside."""
    path = folder / LOCK
    while True:
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o644)
        except OSError as error:
            raise DataError(
                f"{folder}: cannot be written to ({error.strerror or error}); choose another folder"
            ) from error
        try:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(lock, 200).decode("utf-8", "replace") or "it has just begun"
            os.close(lock)
            raise DataError(
                f"{folder}: another process is writing to this folder ({owner}); wait for its end, or choose another "
                "folder"
            ) from None
        except OSError:
            pass  # a file system without locks: better unguarded than not at all
        with suppress(FileNotFoundError):  # removed by the owner before, between our opening and our locking
            if os.path.samestat(os.fstat(lock), path.stat()):
                break
        os.close(lock)
    with suppress(OSError):
        os.ftruncate(lock, 0)
        os.write(lock, f"process {os.getpid()} on {socket.gethostname()}".encode())
    return lock
