"""The training log as it is written: one JSON object per line, and TensorBoard's files if configured.

`ModelFolder.read_log` reads it.
"""

import json
import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from regard.checkpoint import LOG
from regard.errors import DataError, MissingExtraError
from regard.io import check_regular
from regard.training.state import TrainingState


class TrainingLog:
    """Writes ``log.jsonl``; each row is on disk when `write` returns.

    Args:
        folder: the model folder; None for a process that leaves the log to another.
        tensorboard: write TensorBoard's event files too, under ``tensorboard/``.
        resumed: the state of the run whose log goes on: what was written after it is removed; None for a new log.

    Raises:
        MissingExtraError: TensorBoard is configured and not installed.
        DataError: the log cannot be written.
    """

    def __init__(
        self, folder: Path | None, tensorboard: bool = False, resumed: TrainingState | None = None
    ) -> None:
        self._events: Any = None
        self.path = Path(os.devnull) if folder is None else folder / LOG
        if tensorboard and folder is not None:
            try:
                from torch.utils.tensorboard import SummaryWriter
            except ImportError:
                raise MissingExtraError("training.tensorboard", "tensorboard", "tensorboard") from None
            after = None if resumed is None else resumed.updates + 1
            self._events = SummaryWriter(str(folder / "tensorboard"), purge_step=after)
        try:
            if folder is not None and self.path.exists():
                check_regular(self.path)
            self._file = self.path.open("w" if resumed is None else "a", encoding="utf-8")
            if resumed is not None and folder is not None:
                os.truncate(self.path, min(resumed.log_size, self.path.stat().st_size))
        except OSError as error:
            raise self._fault(error) from error

    def write(self, event: str, update: int, **values: Any) -> None:
        """Add a row.

        Args:
            event: ``start``, ``resume``, ``train``, ``validation`` or ``end``.
            update: the number of updates so far.
            values: plain values by name.

        Raises:
            DataError: the row cannot be written.
        """
        row = {"event": event, "update": update, **values}
        try:
            self._file.write(json.dumps(row, ensure_ascii=False) + "\n")
            self._file.flush()
        except OSError as error:
            raise self._fault(error) from error
        if self._events is not None:
            for name, value in values.items():
                if isinstance(value, int | float):
                    self._events.add_scalar(f"{event}/{name}", value, update)

    def sync(self) -> int:
        """Flush all rows to the disk; return the log's size in bytes.

        Raises:
            DataError: they cannot be written.
        """
        try:
            os.fsync(self._file.fileno())
            return os.fstat(self._file.fileno()).st_size
        except OSError as error:
            raise self._fault(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):  # `write` has raised for a row that could not be written
            self._file.close()
        if self._events is not None:
            self._events.close()

    def _fault(self, error: OSError) -> DataError:
        return DataError(
            f"{self.path}: cannot be written ({error.strerror or error}); free some space, or choose another folder"
        )
