"""How training went, and how quality falls with length, as figures for a paper.

In: journal rows, bands of length. Out: matplotlib `Figure`s. Colours are told apart by the colour-blind,
and lines by their marks in grey.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.errors import DataError
from regard.output.pictures.canvas import new_figure, require_matplotlib
from regard.output.pictures.fonts import families_for
from regard.output.pictures.series import Series, series
from regard.output.quality.by_length import LengthBand

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rows = Sequence[Mapping[str, Any]]

# Okabe and Ito's colours that also differ in lightness.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#767676"
_FAINT = "#e4e4e4"
_HIGHEST_LOSS_AS_PERPLEXITY = 20  # beyond it a run has diverged, and e^loss says no more
_PANEL = (3.6, 2.5)  # inches


def training_curves(rows: Rows) -> Figure:
    """Draw loss, quality, accuracy and learning rate against updates; panels without numbers are left out.

    Args:
        rows: the journal, with events "train" and "validation".

    Raises:
        DataError: no row has a number to draw.
        MissingExtraError: matplotlib is not installed.
    """
    panels = [panel for has_numbers, panel in _panels(rows) if has_numbers]
    if not panels:
        raise DataError(
            f"{len(rows)} journal rows without a number to draw; train for at least one update first"
        )
    columns = min(2, len(panels))
    height = _PANEL[1] * -(-len(panels) // columns)
    with _style():
        figure = new_figure(_PANEL[0] * columns, height)
        figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
        grid = figure.subplots(-(-len(panels) // columns), columns, squeeze=False).flatten()
        for axes, panel in zip(grid, panels, strict=False):
            panel(axes)
            axes.set_xlabel("updates")
            axes.set_xlim(left=0)
            axes.xaxis.set_major_formatter(_thousands)
        for axes in grid[len(panels) :]:
            axes.remove()
    return figure


def quality_by_length(bands: Sequence[LengthBand]) -> Figure:
    """Draw BLEU and exact match against source length, with the number of sentences as faint bars.

    Args:
        bands: as `measure_by_length` gives them.

    Raises:
        DataError: no bands.
        MissingExtraError: matplotlib is not installed.
    """
    if not bands:
        raise DataError("quality by length needs at least one band of sentences; score a corpus first")
    places = np.arange(len(bands))
    with _style():
        figure = new_figure(max(3.6, 0.55 * len(bands) + 1.6), 2.8)
        figure.set_layout_engine("constrained")
        axes = figure.add_subplot()
        counts = axes.twinx()
        numbers = [band.num_sentences for band in bands]
        bars = counts.bar(places, numbers, width=0.8, color=_FAINT, label="sentences")
        counts.bar_label(bars, color=GREY, size=6.5, padding=1)
        counts.set_ylim(0, 2.5 * max(numbers))
        counts.set_axis_off()
        axes.set_zorder(counts.get_zorder() + 1)
        axes.patch.set_visible(False)
        axes.plot(places, [band.quality.bleu for band in bands], "o-", color=BLUE, label="BLEU")
        exact = [100 * band.quality.exact_match for band in bands]
        axes.plot(places, exact, "s--", color=ORANGE, label="exact match (%)")
        axes.set_xticks(places, [band.name for band in bands])
        axes.set_xlabel("source length (words)")
        axes.set_ylabel("quality, 0 to 100")
        axes.set_ylim(0, 105)
        handles = [*axes.get_lines(), bars]
        axes.legend(handles=handles, loc="lower left", ncols=3, bbox_to_anchor=(0, 1.0))
    return figure


def _panels(rows: Rows) -> list[tuple[bool, Callable[[Axes], None]]]:
    """The panels in their order, each with whether there is anything to draw."""
    train_loss, loss = series(rows, "train", "loss"), series(rows, "validation", "loss")
    bleu, chrf = series(rows, "validation", "bleu"), series(rows, "validation", "chrf")
    exact = series(rows, "validation", "exact_match", scale=100)
    forced = series(rows, "validation", "token_accuracy", scale=100)
    free = series(rows, "validation", "free_running_accuracy", scale=100)
    rate = series(rows, "train", "rate")
    return [
        (bool(train_loss or loss), lambda axes: _draw_loss(axes, train_loss, loss)),
        (bool(bleu or chrf or exact), lambda axes: _draw_quality(axes, bleu, chrf, exact)),
        (bool(forced or free), lambda axes: _draw_accuracy(axes, forced, free)),
        (bool(rate), lambda axes: _draw_rate(axes, rate)),
    ]


def _draw_loss(axes: Axes, train: Series, validation: Series) -> None:
    if train:
        axes.plot(train.updates, train.values, _line(train), color=GREY, linewidth=0.9, label="training")
    if validation:
        axes.plot(validation.updates, validation.values, "o-", color=BLUE, label="validation")
    axes.set_ylabel("loss (nats per token)")
    axes.set_ylim(bottom=0)
    axes.set_title("Loss, teacher-forced")
    axes.legend()
    if axes.get_ylim()[1] > _HIGHEST_LOSS_AS_PERPLEXITY:
        return
    perplexity = axes.secondary_yaxis("right", functions=(np.exp, lambda x: np.log(np.maximum(x, 1e-9))))
    perplexity.set_ylabel("perplexity")
    perplexity.set_yticks(_perplexity_ticks(axes.get_ylim()[1]))


def _perplexity_ticks(highest_loss: float) -> list[float]:
    """1, 2, 5, 10, …, as many as the loss axis has room for without crowding."""
    ticks = [
        digit * 10.0**power
        for power in range(9)
        for digit in (1, 2, 5)
        if digit * 10**power <= np.exp(highest_loss)
    ]
    return ticks if len(ticks) <= 6 else ticks[::3]


def _draw_quality(axes: Axes, bleu: Series, chrf: Series, exact: Series) -> None:
    for curve, line, colour, name in (
        (bleu, "o-", BLUE, "BLEU"),
        (chrf, "^:", GREEN, "chrF"),
        (exact, "s--", ORANGE, "exact match (%)"),
    ):
        if curve:
            axes.plot(curve.updates, curve.values, line, color=colour, label=name)
    axes.set_ylabel("quality, 0 to 100")
    axes.set_ylim(0, 100)
    axes.set_title("Quality, free-running")
    axes.legend(loc="lower right")


def _draw_accuracy(axes: Axes, forced: Series, free: Series) -> None:
    if forced:
        axes.plot(forced.updates, forced.values, "o-", color=BLUE, label="teacher-forced")
    if free:
        axes.plot(free.updates, free.values, "s--", color=ORANGE, label="free-running")
    if forced and forced.updates == free.updates:
        axes.fill_between(forced.updates, forced.values, free.values, color=_FAINT, linewidth=0, label="gap")
    axes.set_ylabel("token accuracy (%)")
    axes.set_ylim(top=100)
    axes.set_title("Accuracy and its gap")
    axes.legend(loc="lower right")


def _draw_rate(axes: Axes, rate: Series) -> None:
    axes.plot(rate.updates, rate.values, _line(rate), color=BLUE)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("learning rate")
    axes.yaxis.set_major_formatter(lambda value, _position: f"{value:g}")
    axes.set_title("Learning rate")


def _line(curve: Series) -> str:
    """A plain line, or a dot where there is but one point."""
    return "-" if len(curve.updates) > 1 else "o"


def _thousands(value: float, _position: int) -> str:
    return f"{value:,.0f}"


def _style() -> Any:
    """Quiet axes, small marks, legends without frames."""
    require_matplotlib()
    import matplotlib

    return matplotlib.rc_context(
        {
            "font.family": list(families_for(())),
            "font.size": 8,
            "axes.titlesize": 9,
            "axes.titlelocation": "left",
            "axes.titlepad": 8,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.linewidth": 0.6,
            "axes.edgecolor": "#444444",
            "axes.grid": True,
            "axes.grid.axis": "y",
            "grid.color": "#ececec",
            "grid.linewidth": 0.6,
            "axes.axisbelow": True,
            "xtick.major.width": 0.6,
            "ytick.major.width": 0.6,
            "lines.linewidth": 1.3,
            "lines.markersize": 3.2,
            "legend.frameon": False,
        }
    )
