"""What the results of all tasks share: they plot themselves, and are written as JSON.

Knows nothing of models, tokenizers or tensors; arrays are numpy's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class PlottedResult(ABC):
    """A result that is drawn as a figure."""

    @abstractmethod
    def figure(self, *args: Any, **options: Any) -> Figure:
        """The figure; its options, all of them keywords, are the subclass's."""

    def plot(self, path: str | PathLike[str] | None = None, **options: Any) -> Figure:
        """Draw the result, and save it.

        Args:
            path: where to save it, in the format of its suffix; None saves nothing.
            options: of `figure`, such as ``title``.

        Raises:
            MissingExtraError: matplotlib is not installed.
            DataError: the file cannot be written.
        """
        from regard.plots.figures.canvas import save

        figure: Figure = self.figure(**options)
        if path is not None:
            save(figure, path)
        return figure


class JsonResult:
    """A result that is written as a JSON object."""

    json_names: ClassVar[tuple[str, ...]]
    """Its attributes, in the order they are written."""

    def to_json(self) -> dict[str, Any]:
        """Everything as a JSON object, arrays to four decimals."""
        return {name: _plain(getattr(self, name)) for name in self.json_names}


def _plain(value: Any) -> Any:
    if isinstance(value, JsonResult):
        return value.to_json()
    if isinstance(value, np.ndarray):
        return np.round(value.astype(np.float64), 4).tolist()
    if isinstance(value, Mapping):
        return dict(value)
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
