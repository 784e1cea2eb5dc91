"""Where ``--plot`` draws: each text into a folder, or the only one into a file.

In: the path that was given, and what can draw itself. Out: pictures. A path with a picture's suffix is a file, any
other a folder.
"""

from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from regard.errors import ConfigError
from regard.whole_file import make_folder

_PICTURES = frozenset({".png", ".pdf", ".svg", ".jpg", ".jpeg", ".eps", ".ps", ".webp", ".tif", ".tiff"})


class Drawn(Protocol):
    """What can draw itself."""

    def plot(self, path: str | Path, /) -> Any:
        """Draw into a file."""


class Drawings:
    """The pictures of a run; use it as a context around the texts.

    Args:
        plot: a folder, which is made, or a file, which is drawn in the end; None draws nothing.
    """

    def __init__(self, plot: Path | None) -> None:
        self._plot = plot
        self._one: Drawn | None = None
        self._is_file = plot is not None and plot.suffix.lower() in _PICTURES
        if plot is not None and not self._is_file:
            make_folder(plot)

    def add(self, one: Drawn, number: int) -> None:
        """Draw a text, the `number`-th of all.

        Raises:
            ConfigError: it is the second, and there is one file.
        """
        if self._plot is None:
            return
        if not self._is_file:
            one.plot(self._plot / f"{number:06d}.png")
            return
        if self._one is not None:
            raise ConfigError(
                f"--plot {self._plot}: one picture, and there are several texts; name a folder, as "
                f"--plot {self._plot.with_suffix('')}"
            )
        self._one = one

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._one is not None and self._plot is not None:
            self._one.plot(self._plot)
