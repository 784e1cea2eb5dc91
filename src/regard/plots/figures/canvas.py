"""The only place that imports matplotlib's backend: figures without global state, saved to files.

In: sizes, a figure, a path. Out: an empty `Figure` with its own canvas, axes in inches, a file. Never uses pyplot, so
no display is needed and no figure outlives its last use.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from regard.errors import ConfigError, MissingExtraError, nearest
from regard.io import write_whole
from regard.plots.colours import FAINT, INK, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Text stays text in an SVG, and equal figures make equal files: no dates, no random ids.
_FILE_STYLE: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "regard", "pdf.fonttype": 42}
_UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
SCREEN_DOTS_PER_INCH, FILE_DOTS_PER_INCH = 100, 200
FONT_SIZE = 9.0  # points, in charts, except titles


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
    """Make an empty figure on a white background.

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


def page_axes(figure: Figure) -> Axes:
    """Add axes over the whole figure in inches, x to the right and y down from the upper left corner.

    Args:
        figure: from `new_figure`.
    """
    width, height = figure.get_size_inches()
    axes = figure.add_axes((0, 0, 1, 1), frame_on=False, autoscale_on=False)
    axes.set(xlim=(0, width), ylim=(height, 0), xticks=[], yticks=[])
    return axes


def save(figure: Figure, path: str | PathLike[str]) -> None:
    """Write a figure atomically, in the format of the file name's extension.

    Args:
        figure: the figure.
        path: such as ``attention.png``, ``.svg`` or ``.pdf``; without an extension, a PNG.

    Raises:
        ConfigError: matplotlib cannot write this format.
        DataError: the file cannot be written.
    """
    import matplotlib

    target = Path(path)
    extension = target.suffix[1:].lower() or "png"
    formats = figure.canvas.get_supported_filetypes()
    if extension not in formats:
        raise ConfigError(f"{target}: cannot draw a {extension!r} file; {nearest(extension, formats)}")
    drawn = BytesIO()
    with matplotlib.rc_context(_FILE_STYLE):
        figure.savefig(drawn, format=extension, dpi=FILE_DOTS_PER_INCH, metadata=_UNDATED.get(extension))
    content = drawn.getvalue()
    if extension == "svg":  # a viewer would make one blank of several
        content = content.replace(b"<text ", b'<text xml:space="preserve" ')
    write_whole(target, lambda file: file.write(content))


def style_axes(axes: Axes, families: Sequence[str], *, grid: Literal["x", "y", "both"] = "y") -> None:
    """Remove the frame above and at the right, lighten ticks, and add faint grid lines.

    Args:
        axes: after everything is drawn on them.
        families: from `regard.plots.figures.fonts.families_for`.
        grid: the axis with grid lines.
    """
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set(color=MUTED, linewidth=0.8)
    axes.grid(axis=grid, color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(colors=MUTED, labelcolor=INK, labelsize=FONT_SIZE - 0.5, length=3, width=0.8)
    axes.tick_params(which="minor", length=0)
    for label in (*axes.get_xticklabels(which="both"), *axes.get_yticklabels(which="both")):
        label.set_fontfamily(list(families))
