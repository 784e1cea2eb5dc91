"""What the results of all tasks share: they plot themselves. Knows nothing of models, tokenizers or tensors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from os import PathLike
from typing import TYPE_CHECKING, Any

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
