"""Ctrl-C, SIGTERM and SIGHUP as requests to stop that training obeys where nothing is lost.

The first signal is noted; the loop looks for it between updates, writes a checkpoint and raises `StoppedTraining`.
Where work may be broken off, as in a validation, the signal raises that by itself. A second Ctrl-C waits for the
checkpoint, a third ends the process at once.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Any, Self

_NAMES = {"SIGINT": "Ctrl-C", "SIGTERM": "SIGTERM", "SIGHUP": "SIGHUP"}


class StoppedTraining(KeyboardInterrupt):
    """Training was stopped by a signal.

    Args:
        number: of the signal.

    Attributes:
        name: of the signal, as people call it.
        status: the exit status of a process that a signal stopped: 130 for Ctrl-C.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self.name = _NAMES[signal.Signals(number).name]
        self.status = 128 + number
        super().__init__(
            f"training was stopped by {self.name}; go on with resume=True, or regard train --resume"
        )

    def __reduce__(self) -> "tuple[type[StoppedTraining], tuple[int]]":
        return StoppedTraining, (self._number,)  # so that it can cross to another process


class StopRequest:
    """Catches the signals while training; use it as a context around the loop.

    In a thread other than the main one, and for a signal that the process ignores (as under nohup), nothing changes.

    Args:
        notify: called with a sentence for the user.

    Attributes:
        signal: the number of the first one that has come, or that another process has told of; None before.
    """

    def __init__(self, notify: Callable[[str], None]) -> None:
        self._notify = notify
        self.signal: int | None = None
        self._interrupts = 0
        self._breakable = False
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._handlers[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._handlers.items():
            if signal.getsignal(number) == self._handle:
                signal.signal(number, handler)

    def check(self) -> None:
        """Raise if a signal has come.

        Raises:
            StoppedTraining: it has.
        """
        if self.signal is not None:
            raise StoppedTraining(self.signal)

    @contextmanager
    def breakable(self) -> Iterator[None]:
        """Around work that a signal may break off at any point."""
        self.check()
        self._breakable = True
        try:
            yield
        finally:
            self._breakable = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._interrupts += number == signal.SIGINT
        if self._interrupts > 2:
            raise KeyboardInterrupt
        first, self.signal = self.signal is None, self.signal or number
        if self._breakable:
            self._breakable = False
            raise StoppedTraining(self.signal)
        with suppress(OSError, RuntimeError):  # a terminal that is gone, or that is being written to
            self._notify(
                "stopping after this update"
                if first
                else "waiting for the checkpoint; Ctrl-C once more ends at once"
            )
