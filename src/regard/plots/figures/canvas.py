"""Where matplotlib is met: figures without global state, and their way to a file.

In: sizes, a figure, a path. Out: an empty `Figure` with a canvas of its own, axes that count in
inches; a file. Never touches pyplot:
nothing needs a display, and no figure stays alive after its last use.

How curves and bars look: told apart by dash, mark and lightness, so that grey print keeps them apart too.

In: a place in a row of curves. Out: what matplotlib needs to draw it. Also the bare axes all charts share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from regard.errors import ConfigError, MissingExtraError, nearest
from regard.io import write_whole
from regard.plots.style import FAINT, INK, SOFT

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


LETTERS = 9.0
"""Points, of all but titles."""


@dataclass(frozen=True)
class Look:
    """One way to draw a curve; a bar takes the colour alone."""

    colour: str
    dash: Any
    mark: str


LOOKS = (
    Look("#0b3c5d", "-", "o"),
    Look("#d1495b", (0, (5, 2)), "s"),
    Look("#e09f1f", (0, (1.2, 1.6)), "^"),
    Look("#4a9b7f", (0, (6, 1.5, 1.2, 1.5)), "D"),
    Look("#7a5c99", (0, (3, 1.2)), "v"),
    Look("#8c8c86", "-", "x"),
    Look("#1b1b1a", (0, (8, 2, 1.2, 2, 1.2, 2)), "P"),
    Look("#5aa9d6", (0, (2, 1)), "*"),
    Look("#a3561f", (0, (4, 1, 1, 1)), "h"),
)


def look(index: int) -> Look:
    """The look of the curve at a place; beyond the last they come round again."""
    return LOOKS[index % len(LOOKS)]


def dress(axes: Axes, families: Sequence[str], *, grid: Literal["x", "y", "both"] = "y") -> None:
    """Take from axes what is not needed: the frame above and at the right, heavy ticks.

    Args:
        axes: to be dressed, when all is drawn.
        families: fonts, as `regard.plots.figures.lettering.families_for` gives them.
        grid: along which axis faint lines run: "x", "y" or "both".
    """
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set(color=SOFT, linewidth=0.8)
    axes.grid(axis=grid, color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(colors=SOFT, labelcolor=INK, labelsize=LETTERS - 0.5, length=3, width=0.8)
    axes.tick_params(which="minor", length=0)
    for label in (*axes.get_xticklabels(which="both"), *axes.get_yticklabels(which="both")):
        label.set_fontfamily(list(families))
