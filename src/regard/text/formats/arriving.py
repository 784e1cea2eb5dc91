"""Lines in groups, as they come: as many as there are when the input pauses, so that whoever waits is answered.

In: a path as `read_file` takes it. Out: lists of lines, none empty. A group of standard input ends when nothing more
came for a moment; files come in groups of the most that is asked for. A bad line is an error only after the lines
before it were handed out. Nothing is read before it is asked for.
"""

import io
import os
import select
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from regard.errors import DataError
from regard.text.formats.opened import BOM, STDIN, decode_line, read_file

_PAUSE = 0.01
"""Seconds without a new line that end a group."""
_PATIENCE = 0.05
"""Seconds after its first line at which a group takes no more than what is there already."""
_BYTES = 1 << 16


def read_groups(path: str | Path, most: int) -> Iterator[list[str]]:
    """Yield the lines of a file in groups.

    Args:
        path: a plain or compressed file, or ``-`` for standard input.
        most: the most lines in a group.

    Raises:
        DataError: the file is missing, unreadable or damaged, or a line is not UTF-8.
    """
    descriptor = _waiting_input() if str(path) == STDIN else None
    lines = read_file(path) if descriptor is None else _decoded(_arriving(descriptor, most), path)
    group: list[str] = []
    try:
        for line in lines:
            if line is not None:
                group.append(line)
            if group and (line is None or len(group) == most):
                yield group
                group = []
    except DataError:
        if group:
            yield group
        raise
    if group:
        yield group


def _waiting_input() -> int | None:
    """The descriptor of standard input, where one can be asked whether something came."""
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
    """Lines without their ends, as many at a time as came without a pause."""
    pending: list[bytes] = []
    tail: list[bytes] = []  # the parts of a line that has begun
    first = b""  # what came before it was clear whether it is a byte order mark
    begun = False
    due = 0.0
    while True:
        now = time.monotonic()
        wait = max(0.0, min(_PAUSE, due - now)) if pending else None
        if len(pending) >= most or not select.select([descriptor], [], [], wait)[0]:
            yield pending[:most]
            pending, due = pending[most:], time.monotonic() + _PATIENCE
            continue
        data = os.read(descriptor, _BYTES)
        if not data:
            break
        if not begun:
            first += data
            if len(first) < len(BOM) and BOM.startswith(first):
                continue
            data, first, begun = first.removeprefix(BOM), b"", True
        *whole, rest = data.split(b"\n")
        if whole:
            whole[0], tail = b"".join([*tail, whole[0]]), []
        tail.append(rest)
        if whole and not pending:
            due = now + _PATIENCE
        pending += whole
    last = b"".join([first, *tail])
    pending += [last] if last else []
    yield from (pending[start : start + most] for start in range(0, len(pending), most))
