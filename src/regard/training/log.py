"""The training log as it is written: one JSON object per line, and TensorBoard's files if configured.

`ModelFolder.read_log` reads it.
"""

import json
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from regard.checkpoint import LOG
from regard.errors import DataError, MissingExtraError


class TrainingLog:
    """Writes ``log.jsonl``; each row is on disk when `write` returns.

    Args:
        folder: the model folder.
        tensorboard: write TensorBoard's event files too, under ``tensorboard/``.

    Raises:
        MissingExtraError: TensorBoard is configured and not installed.
        DataError: the log cannot be written.
    """

    def __init__(self, folder: Path, tensorboard: bool = False) -> None:
        self._events: Any = None
        if tensorboard:
            try:
                from torch.utils.tensorboard import SummaryWriter
            except ImportError:
                raise MissingExtraError("training.tensorboard", "tensorboard", "tensorboard") from None
            self._events = SummaryWriter(str(folder / "tensorboard"))
        self.path = folder / LOG
        try:
            self._file = self.path.open("w", encoding="utf-8")
        except OSError as error:
            raise self._fault(error) from error

    def write(self, event: str, update: int, **values: Any) -> None:
        """Add a row.

        Args:
            event: ``start``, ``train``, ``validation`` or ``end``.
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
