"""Where matplotlib is met: figures without global state, and their way to a file.

In: sizes, a figure, a path. Out: an empty `Figure` with a canvas of its own, axes that count in
inches; a file. Never touches pyplot:
nothing needs a display, and no figure stays alive after its last use.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.errors import ConfigError, MissingExtraError, nearest
from regard.whole_file import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Text stays text in an SVG, and no date or random name makes two equal pictures differ.
_FILE_STYLE: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "regard", "pdf.fonttype": 42}
_UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
SCREEN_DOTS_PER_INCH, FILE_DOTS_PER_INCH = 100, 200


def require_matplotlib() -> None:
    """Check that matplotlib can be imported.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("drawing a picture", "matplotlib", "plot") from error


def new_figure(width: float, height: float) -> Figure:
    """Make an empty figure on white.

    Args:
        width: in inches.
        height: in inches.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), facecolor="white", dpi=SCREEN_DOTS_PER_INCH)
    FigureCanvasAgg(figure)
    return figure


def whole_page(figure: Figure) -> Axes:
    """Lay axes over a whole figure that count in inches, to the right and down from its upper left corner.

    Args:
        figure: as `new_figure` made it.
    """
    width, height = figure.get_size_inches()
    axes = figure.add_axes((0, 0, 1, 1), frame_on=False, autoscale_on=False)
    axes.set(xlim=(0, width), ylim=(height, 0), xticks=[], yticks=[])
    return axes


def save(figure: Figure, path: str | PathLike[str]) -> None:
    """Write a figure whole or not at all, in the format its ending names.

    Args:
        figure: what to write.
        path: such as ``attention.png``, ``.svg`` or ``.pdf``; without an ending, a PNG.

    Raises:
        ConfigError: matplotlib cannot write such a format.
        DataError: the file cannot be written.
    """
    import matplotlib

    target = Path(path)
    ending = target.suffix[1:].lower() or "png"
    formats = figure.canvas.get_supported_filetypes()
    if ending not in formats:
        raise ConfigError(f"{target}: cannot draw a {ending!r} file; {nearest(ending, formats)}")
    with matplotlib.rc_context(_FILE_STYLE):
        write_whole(
            target,
            lambda file: figure.savefig(
                file, format=ending, dpi=FILE_DOTS_PER_INCH, metadata=_UNDATED.get(ending)
            ),
        )
