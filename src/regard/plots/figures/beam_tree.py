"""A beam search as a tree that grows downwards: what was kept, what was finished, what was given up.

In: a `SearchTree`. Out: a matplotlib `Figure`. A row is a step, with the source word the best output looked at beside
it. The best output runs straight down the left in bold; the others follow in an order in which no two branches cross;
what led nowhere is grey. What was weighed and not kept is pale, at the right of each row. A branch is as thick as its
word is likely. Under a word stands the log-probability of all words so far, under an end mark its score.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from regard.evaluation.metrics import hundredths
from regard.plots.figures.canvas import new_figure, require_matplotlib, whole_page
from regard.plots.figures.lettering import Lettering
from regard.plots.style import FAINT, INK, SOFT, shade, shortened

if TYPE_CHECKING:
    from regard.tasks.translate.search_tree import PartialHypothesis, SearchTree


if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARGIN = 0.18  # inches
_SIZE = 10.0
_ROW = 3.5  # ems from row to row: word, number, room for a branch to bend
_GAP = 0.14  # inches between the words of a row
_PULL = 0.3  # inches by which a branch may lean to the left from row to row
_STEM = 0.1  # inches from a word's left edge to where its branches begin and end
_THINNEST, _THICKEST = 0.4, 2.8  # points
_BRANCH, _GIVEN_UP = "#8f8f89", "#9a9a94"
_KEY = (
    "at the left: the step, from 0, and the source word the best one looked at most",
    "number: log p of all words so far; of an end, its score    thickness: p of the word",
    "bold: the best    black: found    grey: kept, and lost later    pale: weighed, and not kept",
)


@dataclass(frozen=True)
class Placed:
    """A beginning with its place.

    Attributes:
        one: what is placed.
        row: its step, counted from 0.
        left: where it begins, in inches from the best output's left edge.
        width: in inches.
    """

    one: "PartialHypothesis"
    row: int
    left: float
    width: float


def place_beginnings(
    tree: "SearchTree", width_of: "Callable[[PartialHypothesis], float]", *, pruned: bool = True
) -> dict[int, Placed]:
    """Give every beginning a place under what it grew from, or as near to it as the others leave room.

    Within a row the children of one parent stand together, in the order of their parents, so that no two branches
    cross; the best output's stand first. Those weighed and not kept stand behind all others, in the same order.

    Args:
        tree: of a search.
        width_of: how wide a beginning is.
        pruned: whether those weighed and not kept have a place.

    Returns:
        the places by the beginnings' ids.
    """
    best = {one.id for one in tree.best}
    places: dict[int, Placed] = {}
    parents: "list[PartialHypothesis | None]" = [None]
    for row in range(len(tree.steps)):
        children = [one for parent in parents for one in _in_order(tree.after(parent), best)]
        kept = [one for one in children if one.fate != "pruned"]
        given_up = [one for one in children if pruned and one.fate == "pruned"]
        free = 0.0  # where the row has room again
        for one in (*kept, *given_up):
            above = 0.0 if one.parent is None or one.fate == "pruned" else places[one.parent].left
            # a child may stand a little to the left of its parent, so that what ends leaves no hole for ever
            left = 0.0 if one.id in best else max(free, above - _PULL)
            places[one.id] = Placed(one, row, left, width_of(one))
            free = left + width_of(one) + _GAP
        parents = list(kept)
    return places


def _in_order(children: "Sequence[PartialHypothesis]", best: Collection[int]) -> "list[PartialHypothesis]":
    return sorted(children, key=lambda one: (one.id not in best, -one.total))


def draw_beam_tree(tree: "SearchTree", *, pruned: bool = True, title: str | None = None) -> Figure:
    """Draw a search.

    Args:
        tree: what it went through.
        pruned: whether to draw what was weighed and not kept.
        title: a line above it.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    require_matplotlib()
    beginnings = [one for step in tree.steps for one in step]
    texts = [title or "", *_KEY, *tree.translation.source_tokens, *(one.token for one in beginnings)]
    pen = _Pen(tree, Lettering.of(texts, _SIZE))
    places = place_beginnings(tree, pen.width, pruned=pruned)
    margin = _MARGIN + pen.gutter
    head = 2.4 * pen.words.em if title else 0.0
    num_rows = 1 + max((place.row for place in places.values()), default=-1)
    tall = num_rows * _ROW * pen.words.em
    inner = max(
        pen.gutter + max((place.left + place.width for place in places.values()), default=0.0),
        pen.words.width(title or "", bold=True),
        *map(pen.small.width, _KEY),
    )
    foot = 1.5 * pen.small.em * len(_KEY)
    figure = new_figure(inner + 2 * _MARGIN, head + tall + foot + 2 * _MARGIN)
    axes = whole_page(figure)
    if title:
        pen.words.write(axes, _MARGIN, _MARGIN + pen.words.em, title, bold=True)
    top = _MARGIN + head + 1.1 * pen.words.em
    for place in places.values():
        baseline = top + place.row * _ROW * pen.words.em
        if place.one.parent is not None:
            parent = places[place.one.parent]
            pen.bend(axes, place, margin + parent.left, margin + place.left, baseline)
        pen.write(axes, place, margin + place.left, baseline)
    for row, one in enumerate(tree.best):
        pen.beside(axes, one, row, top + row * _ROW * pen.words.em)
    for number, line in enumerate(_KEY, start=1):
        baseline = _MARGIN + head + tall + 1.5 * number * pen.small.em
        pen.small.write(axes, _MARGIN, baseline, line, colour=SOFT)
    return figure


class _Pen:
    """How the parts of one tree are written."""

    def __init__(self, tree: "SearchTree", words: Lettering) -> None:
        self._tree = tree
        self._best = {one.id for one in tree.best}
        self._found = {one.id for end in tree.finished for one in tree.way_to(end)}
        self.words = words
        self.small = words.smaller(0.72)
        self._looked = max(
            (self.small.width(shortened(tree.looked_at(one) or "")) for one in tree.best), default=0.0
        )
        self._digits = self.small.width("0" * len(str(len(tree.best))))
        self.gutter = self._digits + self._looked + (0.45 if self._looked else 0.25)

    def width(self, one: "PartialHypothesis") -> float:
        """How wide a word or its number is, whichever is wider."""
        word = self.words.width(shortened(one.token), bold=one.id in self._best)
        return max(word, self.small.width(_number(one))) + (0.12 if one.fate == "finished" else 0.0)

    def write(self, axes: Axes, place: Placed, left: float, baseline: float) -> None:
        """A word and its number."""
        one, best = place.one, place.one.id in self._best
        colour = _GIVEN_UP if one.fate == "pruned" else INK if one.id in self._found else SOFT
        if one.fate == "finished":
            self._ground(axes, left, baseline, place.width, shade(0.55 if best else 0.2))
            left += 0.06
        self.words.write(axes, left, baseline, shortened(one.token), colour=colour, bold=best)
        number = {"pruned": _GIVEN_UP, "kept": SOFT, "finished": INK}[one.fate]
        self.small.write(axes, left, baseline + 1.25 * self.small.em, _number(one), colour=number)

    def _ground(self, axes: Axes, left: float, baseline: float, width: float, colour: str) -> None:
        from matplotlib.patches import FancyBboxPatch

        top, height = baseline - 1.0 * self.words.em, 2.2 * self.words.em
        axes.add_patch(
            FancyBboxPatch(
                (left, top),
                width,
                height,
                boxstyle="round,pad=0,rounding_size=0.05",
                facecolor=colour,
                edgecolor="none",
                zorder=2,
            )
        )

    def bend(self, axes: Axes, place: Placed, start: float, end: float, baseline: float) -> None:
        """A branch, from under its parent's number in an S to above its word."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        above = baseline - (_ROW - 1.12) * self.words.em
        below = baseline - 0.98 * self.words.em
        half = (above + below) / 2
        x, x_end = start + _STEM, end + _STEM
        points = [(x, above), (x, half), (x_end, half), (x_end, below)]
        best, given_up = place.one.id in self._best, place.one.fate == "pruned"
        likely = math.exp(min(place.one.log_prob, 0.0))
        axes.add_patch(
            PathPatch(
                Path(points, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]),
                fill=False,
                linewidth=_THINNEST + (_THICKEST - _THINNEST) * likely,
                edgecolor=INK if best else FAINT if given_up else _BRANCH,
                capstyle="butt",
                zorder=1 if given_up else 1.2 + best,
            )
        )

    def beside(self, axes: Axes, one: "PartialHypothesis", row: int, baseline: float) -> None:
        """A step's number, and what the best output looked at."""
        after = _MARGIN + self._digits
        self.small.write(axes, after, baseline, str(row), colour=SOFT, align="right")
        looked = self._tree.looked_at(one)
        if looked is not None:
            self.small.write(axes, after + 0.1, baseline, shortened(looked), colour=SOFT)


def _number(one: "PartialHypothesis") -> str:
    return hundredths(one.score if one.fate == "finished" else one.total)
