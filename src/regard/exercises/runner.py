"""Checks a file in a process with a time limit.

The file is the user's own code, and it runs with the user's rights: the process protects from a function that hangs or
ends Python, not from one that means harm.
"""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from json import loads
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import IO, Any

from regard.errors import DataError
from regard.exercises.catalogue import NOT_REACHED, RIGHT, TO_DO, WRONG, Verdict, exercise_of, read_exercise

START_SECONDS = 120.0
"""How long Python and torch may take to start."""


@dataclass
class Checked:
    """The check of a file.

    Attributes:
        path: the file.
        exercise: which it is.
        title: of the exercise.
        failure: why the file as a whole could not be checked; empty if it could.
        verdicts: one per equation.
    """

    path: str
    exercise: str
    title: str
    failure: str = ""
    verdicts: list[Verdict] = field(default_factory=list)

    def count(self, *statuses: str) -> int:
        """How many equations have one of these statuses."""
        return sum(each.status in statuses for each in self.verdicts)

    @property
    def status(self) -> str:
        """Of the whole file: `RIGHT`, `TO_DO` or `WRONG`."""
        if self.failure or self.count(WRONG):
            return WRONG
        return TO_DO if self.count(TO_DO) else RIGHT


def check(path: Path, exercise: str | None = None, *, seed: int = 0, seconds: float = 10.0) -> Checked:
    """Check a file of functions.

    Args:
        path: the file.
        exercise: which it is; by default, the file's name says so.
        seed: of the random inputs.
        seconds: the time limit of each function.

    Raises:
        ConfigError: there is no such exercise.
        DataError: the file cannot be read.
    """
    name = exercise_of(path, exercise)
    try:
        path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error}); give a Python file") from error
    known = read_exercise(name)
    checked = Checked(str(path), name, known.title)
    left = list(known.functions)
    while left and not checked.failure:
        function = ""
        for message in _messages(path.resolve(), name, seed, left, seconds):
            if "failure" in message and function:
                first, *others = known.functions[function]
                checked.verdicts.append(Verdict.of(function, first, WRONG, message["failure"]))
                checked.verdicts += [Verdict.of(function, each, TO_DO, NOT_REACHED) for each in others]
                left.remove(function)
            elif "failure" in message:
                checked.failure = message["failure"]
            elif "function" in message:
                function = message["function"]
            elif "verdicts" in message:
                checked.verdicts += [Verdict(**each) for each in message["verdicts"]]
                left.remove(function)
                function = ""
    return checked


def _messages(
    path: Path, exercise: str, seed: int, functions: list[str], seconds: float
) -> Iterator[dict[str, Any]]:
    """What the judge sends; ends with a failure if it takes too long or ends early."""
    command = [
        sys.executable,
        "-P",
        "-m",
        "regard.exercises.judge",
        str(path),
        exercise,
        str(seed),
        *functions,
    ]
    lines: Queue[bytes] = Queue()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        Thread(target=_read_lines, args=(process.stdout, lines), daemon=True).start()
        try:
            limit = START_SECONDS
            while line := lines.get(timeout=limit):
                message = loads(line)
                limit = seconds
                yield message
                if "finished" in message or "failure" in message:
                    return
            yield {"failure": f"it ended Python, with status {process.wait()}"}
        except Empty:
            yield {"failure": f"stopped after {limit:g} s; does a loop never end? (--seconds sets the limit)"}
        finally:
            process.kill()


def _read_lines(stream: IO[bytes], lines: "Queue[bytes]") -> None:
    """Put the lines of a stream into a queue, and at its end an empty one."""
    for line in stream:
        lines.put(line)
    lines.put(b"")
