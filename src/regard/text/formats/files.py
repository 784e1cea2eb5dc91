"""Files as decoded lines: plain or compressed, on disk or standard input, one by one or in groups.

In: a path (``-`` is standard input), its last suffix naming the compression. Out: lines of text without their ends. A
line ends at a line feed and nowhere else: form feeds, U+0085 and U+2028 are text. A group of standard input ends when
nothing more came for a moment, so that interactive users get an answer; files come in groups of the maximum size. A bad
line is an error only after the lines before it were yielded. Memory does not grow with the file: a line and a group
have a maximum size. Knows nothing of columns or pairs.
"""

import bz2
import errno
import gzip
import importlib
import io
import lzma
import os
import select
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from difflib import get_close_matches
from pathlib import Path
from typing import IO, TypeVar, cast

from regard.errors import DataError
from regard.text.formats.comma_separated import is_comma_separated, separate_by_tabs

STDIN = "-"
BOM = b"\xef\xbb\xbf"
"""A byte order mark before a file's first line; it is not text."""
MAX_LINE_BYTES = 1 << 20
"""The longest line that is read, decompressed: far above any sentence. A tokenizer needs a hundred times as much."""
_BLOCK_BYTES = 1 << 16

Item = TypeVar("Item")
# what the decompressors raise on a broken stream; gzip and bz2 also raise an OSError without a number
_DAMAGE = (EOFError, lzma.LZMAError, zlib.error)


def read_file(path: str | Path) -> Iterator[str]:
    r"""Yield the lines of a file in order, decoded, blank ones too.

    Args:
        path: a plain, .gz, .xz, .bz2 or .zst file, or ``-`` for standard input; the columns of a .csv file are
            separated by tabs here.

    Yields:
        Each line without its ``\n`` or ``\r\n``; the last may lack one. A byte order mark at the start of
        the file is dropped.

    Raises:
        DataError: the file is missing, unreadable or damaged, or a line is not UTF-8 or too long.
    """
    lines = _read_lines(path)
    return separate_by_tabs(lines, path) if is_comma_separated(path, COMPRESSED) else lines


def _read_lines(path: str | Path) -> Iterator[str]:
    try:
        with _open(path) as stream:
            read, cutter = cast(io.BufferedIOBase, stream).read1, _LineCutter(path)
            number, block = 0, b"\n"
            while block:
                block = read(_BLOCK_BYTES)
                for line in cutter.cut(block):
                    number += 1
                    line = line.removesuffix(b"\r")
                    if number == 1:
                        _refuse_foreign(line, path)
                    yield decode_line(line, path, number)
    except _DAMAGE as error:
        raise _damaged(path, error) from error
    except MemoryError as error:  # of a decompressor: a file of a few bytes can name a window of 4 GB
        raise DataError(
            f"{shown(path)}: decompressing it needs more memory than there is; decompress it first"
        ) from error
    except OSError as error:
        raise (_damaged(path, error) if error.errno is None else _unreadable(path, error)) from error


def count_lines(paths: Iterable[str | Path]) -> int | None:
    """The number of lines of some files, for a progress bar.

    Args:
        paths: as for `read_file`.

    Returns:
        None where one can be read only once, such as standard input, or not at all: reading it says why.
    """
    total = 0
    for path in paths:
        if not Path(path).is_file():
            return None
        try:
            with _open(path) as stream:
                block = b"\n"
                while following := stream.read(MAX_LINE_BYTES):
                    block, found = following, following.count(b"\n")
                    if not found and len(block) == MAX_LINE_BYTES:  # a line too long: reading it says so
                        return None
                    total += found
                total += not block.endswith(b"\n")
        except (*_DAMAGE, OSError, DataError):
            return None
    return total


class _LineCutter:
    """Cuts blocks of bytes into lines without their line feeds, wherever the blocks end.

    Args:
        path: for the message about a line that is too long.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = path
        self._num_lines = 0
        self._begun = False
        self._tail = b""  # of the unfinished line; before `_begun`, what may be a byte order mark

    def cut(self, block: bytes) -> list[bytes]:
        """The lines that end in this block; an empty block is the end of the file, and of its last line.

        Raises:
            DataError: a line is longer than `MAX_LINE_BYTES`; the lines before it were returned by earlier calls.
        """
        self._check(self._tail)
        data = self._tail + block
        if not self._begun:
            if block and len(data) < len(BOM) and BOM.startswith(data):
                self._tail = data
                return []
            data, self._begun = data.removeprefix(BOM), True
        *lines, self._tail = data.split(b"\n")
        if lines:
            self._check(lines[0])
        self._num_lines += len(lines)
        return lines if block or not self._tail else [*lines, self._tail]

    def _check(self, line: bytes) -> None:
        if len(line) > MAX_LINE_BYTES:
            raise DataError(
                f"{shown(self._path)}:{self._num_lines + 1}: a line of more than {MAX_LINE_BYTES:,} bytes; if it is "
                "text, split it into sentences, or into shorter lines with fold -s"
            )


def group_by_size(
    items: Iterable[Item | None],
    most: int,
    size: Callable[[Item], int] = lambda item: len(str(item)),
) -> Iterator[list[Item]]:
    """Items in groups of at most `most`, and of no more than `MAX_LINE_BYTES` characters unless it is a single item.

    Args:
        items: lines, or what is made of them; None ends a group. Items before a `DataError` are yielded first.
        most: the maximum number of items in a group.
        size: the number of characters of an item.
    """
    group: list[Item] = []
    total = 0
    try:
        for item in items:
            total += 0 if item is None else size(item)
            if group and (item is None or total > MAX_LINE_BYTES):
                yield group
                group, total = [], 0 if item is None else size(item)
            if item is not None:
                group.append(item)
            if len(group) == most:
                yield group
                group, total = [], 0
    except DataError:
        if group:
            yield group
        raise
    if group:
        yield group


def shown(path: str | Path) -> str:
    """A path as messages name it."""
    return "standard input" if str(path) == STDIN else str(path)


def is_typed(sources: Iterable[str | Path]) -> bool:
    """Whether lines are typed by a person: one of the files is standard input, and that is a terminal."""
    return STDIN in map(str, sources) and sys.stdin is not None and sys.stdin.isatty()


def _open(path: str | Path) -> AbstractContextManager[IO[bytes]]:
    if str(path) == STDIN:
        if sys.stdin is None:
            raise DataError("standard input: it is closed; name a file, or pipe lines into it")
        # the caller's stream: it is not closed here
        return nullcontext(sys.stdin.buffer)
    opener = _OPENERS.get(Path(path).suffix.lower(), _open_plain)
    return opener(Path(path))


def _open_plain(path: Path) -> IO[bytes]:
    return open(path, "rb")


def _open_gzip(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path, "rb"))


def _open_xz(path: Path) -> IO[bytes]:
    return lzma.open(path, "rb")


def _open_bzip2(path: Path) -> IO[bytes]:
    return bz2.open(path, "rb")


def _open_zstandard(path: Path) -> IO[bytes]:
    try:
        zstd = importlib.import_module("compression.zstd")
    except ImportError:
        raise DataError(
            f"{path}: Zstandard needs Python 3.14 and this is {sys.version_info.major}."
            f"{sys.version_info.minor}; decompress it first: zstd -d {path}"
        ) from None
    return cast(IO[bytes], zstd.open(path, "rb"))


_OPENERS: dict[str, Callable[[Path], IO[bytes]]] = {
    ".gz": _open_gzip,
    ".xz": _open_xz,
    ".bz2": _open_bzip2,
    ".zst": _open_zstandard,
}
COMPRESSED = frozenset(_OPENERS)
"""The suffixes of compressed files."""


_SIGNATURES = {
    b"\xff\xfe": "UTF-16; convert it: iconv -f UTF-16 -t UTF-8",
    b"\xfe\xff": "UTF-16; convert it: iconv -f UTF-16 -t UTF-8",
    b"PK\x03\x04": "a ZIP archive, such as a spreadsheet; unpack it, or save it as tab-separated text",
    b"\x1f\x8b": "compressed by gzip; name it .gz",
    b"\xfd7zXZ": "compressed by xz; name it .xz",
    b"BZh": "compressed by bzip2; name it .bz2",
    b"\x28\xb5\x2f\xfd": "compressed by zstd; name it .zst",
    b"\x89PNG": "a picture; name a text file",
    b"%PDF-": "a PDF; save its text as a text file",
}
_NEVER_IN_TEXT = bytes(
    {*range(9), *range(14, 32)} - {27}
)  # control characters but tabs, line ends, and escape


def _refuse_foreign(line: bytes, path: str | Path) -> None:
    """Raise where a file's first bytes say that it is no text in UTF-8, or it has line ends of another kind.

    Raises:
        DataError: it is so; the message says how to convert it.
    """
    for signature, what in _SIGNATURES.items():
        if line.startswith(signature) and (signature != b"BZh" or line[4:10] == b"1AY&SY"):
            raise DataError(f"{shown(path)}: {what}")
    if 3 * line.count(0) > len(line):
        order = "LE" if line[1:2] == b"\0" else "BE"
        raise DataError(
            f"{shown(path)}: UTF-16 without a byte order mark; convert it: iconv -f UTF-16{order} -t UTF-8"
        )
    if line.translate(None, _NEVER_IN_TEXT) != line and not _is_utf8(line):
        raise DataError(f"{shown(path)}: not text, but bytes of another format; name a text file in UTF-8")
    if line.count(b"\r") > 1 and all(part.strip() for part in line.split(b"\r")[:2]):
        raise DataError(
            f"{shown(path)}: carriage returns end its lines, as on old Macs; convert it: tr '\\r' '\\n' < {path}"
        )


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def decode_line(line: bytes, path: str | Path, number: int) -> str:
    """The text of a line without its end.

    Raises:
        DataError: it is not UTF-8.
    """
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{shown(path)}:{number}: byte 0x{line[error.start]:02x} at offset {error.start} of the line is "
            "not UTF-8; convert the file, for instance from Latin-1: iconv -f LATIN1 -t UTF-8"
        ) from error


def _damaged(path: str | Path, error: Exception) -> DataError:
    return DataError(
        f"{shown(path)}: the compressed file is damaged or cut short ({error}); make or fetch it again"
    )


def _unreadable(path: str | Path, error: OSError) -> DataError:
    if error.errno == errno.ENOENT:
        return DataError(f"{path}: no such file{_offer(Path(path))}")
    if error.errno == errno.EISDIR:
        return DataError(f"{path}: is a folder; name a file in it")
    if error.errno == errno.EACCES:
        return DataError(f"{path}: may not be read; change its permissions")
    return DataError(f"{shown(path)}: cannot be read ({error.strerror})")


def _offer(path: Path) -> str:
    """Return the nearest name in the folder of a missing file, as the end of a sentence."""
    try:
        names = sorted(entry.name for entry in path.parent.iterdir())
    except OSError:
        return f", nor a folder {path.parent} to hold it; check the path"
    close = get_close_matches(path.name, names, n=1, cutoff=0.6)
    return (
        f"; did you mean {path.parent / close[0]}?" if close else f" in the folder {path.parent.absolute()}"
    )


_PAUSE = 0.01
"""Seconds without a new line that end a group."""
_PATIENCE = 0.05
"""Seconds after its first line at which a group takes no more than what is there already."""


def read_groups(path: str | Path, most: int) -> Iterator[list[str]]:
    """Yield the lines of a file in groups.

    Args:
        path: a plain or compressed file, or ``-`` for standard input.
        most: the maximum number of lines in a group.

    Raises:
        DataError: the file is missing, unreadable or damaged, or a line is not UTF-8 or too long.
    """
    descriptor = _waiting_input() if str(path) == STDIN else None
    lines = read_file(path) if descriptor is None else _decoded(_arriving(descriptor, most), path)
    return group_by_size(lines, most)


def _waiting_input() -> int | None:
    """The descriptor of standard input, where `select` can wait for it."""
    try:
        return None if os.name == "nt" or sys.stdin is None else sys.stdin.fileno()
    except (io.UnsupportedOperation, ValueError):
        return None


def _decoded(groups: Iterator[list[bytes]], path: str | Path) -> Iterator[str | None]:
    """Lines of text, and None at the end of each group."""
    number = 0
    for group in groups:
        for line in group:
            number += 1
            yield decode_line(line.removesuffix(b"\r"), path, number)
        yield None


def _arriving(descriptor: int, most: int) -> Iterator[list[bytes]]:
    """Lines without their ends, in groups that came without a pause."""
    cutter = _LineCutter(STDIN)
    pending: list[bytes] = []
    due, data = 0.0, b"\n"
    while data:
        now = time.monotonic()
        wait = max(0.0, min(_PAUSE, due - now)) if pending else None
        if len(pending) >= most or not select.select([descriptor], [], [], wait)[0]:
            yield pending[:most]
            pending, due = pending[most:], time.monotonic() + _PATIENCE
            continue
        data = os.read(descriptor, _BLOCK_BYTES)
        try:
            lines = cutter.cut(data)
        except DataError:
            yield pending
            raise
        if lines and not pending:
            due = now + _PATIENCE
        pending += lines
    yield from (pending[start : start + most] for start in range(0, len(pending), most))
