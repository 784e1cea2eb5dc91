"""A beam search as a figure: a tree that grows downwards.

In: partial hypotheses. Out: a matplotlib `Figure`. A row is a step, with the source token the best output attended to
most beside it. The best output runs straight down the left in bold; hypotheses that led to no output are grey, pruned
ones pale, at the right of their row. A branch is as thick as its token is probable. Below a token is the
log-probability of all tokens so far, below EOS of a finished hypothesis its score, which is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from regard.plots.beam_tree import BeamTree, TreeNode, layout, node_value
from regard.plots.colours import FAINT, INK, MUTED, weight_colour
from regard.plots.figures.canvas import new_figure, page_axes
from regard.plots.figures.fonts import Font
from regard.plots.text import truncate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARGIN = 0.18  # inches
_SIZE = 10.0
_ROW = 3.5  # ems from row to row: word, number, space for a branch to bend
_GAP = 0.14  # inches between the words of a row
_LEAN = 0.3  # inches by which a branch may lean to the left from row to row
_STEM = 0.1  # inches from a word's left edge to where its branches begin and end
_THINNEST, _THICKEST = 0.4, 2.8  # points
_BRANCH, _PRUNED = "#8f8f89", "#9a9a94"
_KEY = (
    "left: step, from 0, and the source token with most attention in the best output",
    "number: log p of all tokens so far    score: of a finished output    thickness: p of the token",
    "bold: best output    black: finished    grey: kept, not finished    pale: pruned",
)


def draw_beam_tree(
    nodes: Iterable[TreeNode],
    *,
    attended: Sequence[str] = (),
    pruned: bool = True,
    title: str | None = None,
) -> Figure:
    """Draw a beam search.

    Args:
        nodes: partial hypotheses, parents before their children.
        attended: for each step of the best output its most attended source token; empty without attention.
        pruned: whether to draw pruned hypotheses.
        title: a line above it.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    tree = BeamTree(nodes)
    texts = [title or "", *_KEY, *attended, *(node.token for node in tree.nodes.values())]
    pen = _Pen(tree, attended, Font.covering(texts, _SIZE))
    places = layout(tree, pen.width, gap=_GAP, lean=_LEAN, pruned=pruned)
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
    axes = page_axes(figure)
    if title:
        pen.words.write(axes, _MARGIN, _MARGIN + pen.words.em, title, bold=True)
    top = _MARGIN + head + 1.1 * pen.words.em
    for node_id, place in places.items():
        node = tree.nodes[node_id]
        baseline = top + place.row * _ROW * pen.words.em
        if node.parent is not None:
            pen.bend(axes, node, margin + places[node.parent].left, margin + place.left, baseline)
        pen.write(axes, node, place.width, margin + place.left, baseline)
    for row in range(len(tree.best)):
        pen.beside(axes, row, top + row * _ROW * pen.words.em)
    for number, line in enumerate(_KEY, start=1):
        baseline = _MARGIN + head + tall + 1.5 * number * pen.small.em
        pen.small.write(axes, _MARGIN, baseline, line, colour=MUTED)
    return figure


class _Pen:
    """Draws the parts of one tree."""

    def __init__(self, tree: BeamTree[TreeNode], attended: Sequence[str], words: Font) -> None:
        self._tree = tree
        self._attended = [truncate(token) for token in attended]
        self.words = words
        self.small = words.smaller(0.72)
        widest = max(map(self.small.width, self._attended), default=0.0)
        self._digits = self.small.width("0" * len(str(len(tree.best))))
        self.gutter = self._digits + widest + (0.45 if widest else 0.25)

    def width(self, node: TreeNode) -> float:
        """The width of a node: of its token or of its number."""
        word = self.words.width(truncate(node.token), bold=self._tree.is_best(node))
        return max(word, self.small.width(node_value(node))) + (0.12 if node.fate == "finished" else 0.0)

    def write(self, axes: Axes, node: TreeNode, width: float, left: float, baseline: float) -> None:
        """Write a token and its number."""
        best = self._tree.is_best(node)
        colour = _PRUNED if node.fate == "pruned" else INK if node.id in self._tree.in_output else MUTED
        if node.fate == "finished":
            self._ground(axes, left, baseline, width, weight_colour(0.55 if best else 0.2))
            left += 0.06
        self.words.write(axes, left, baseline, truncate(node.token), colour=colour, bold=best)
        number = {"pruned": _PRUNED, "kept": MUTED, "finished": INK}[node.fate]
        self.small.write(axes, left, baseline + 1.25 * self.small.em, node_value(node), colour=number)

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

    def bend(self, axes: Axes, node: TreeNode, start: float, end: float, baseline: float) -> None:
        """Draw a branch from below its parent's number to above its token."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        above = baseline - (_ROW - 1.12) * self.words.em
        below = baseline - 0.98 * self.words.em
        half = (above + below) / 2
        x, x_end = start + _STEM, end + _STEM
        points = [(x, above), (x, half), (x_end, half), (x_end, below)]
        best, pruned = self._tree.is_best(node), node.fate == "pruned"
        probability = math.exp(min(node.log_prob, 0.0))
        axes.add_patch(
            PathPatch(
                Path(points, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]),
                fill=False,
                linewidth=_THINNEST + (_THICKEST - _THINNEST) * probability,
                edgecolor=INK if best else FAINT if pruned else _BRANCH,
                capstyle="butt",
                zorder=1 if pruned else 1.2 + best,
            )
        )

    def beside(self, axes: Axes, row: int, baseline: float) -> None:
        """Write a step's number, and the source token the best output attended to most."""
        after = _MARGIN + self._digits
        self.small.write(axes, after, baseline, str(row), colour=MUTED, align="right")
        if self._attended:
            self.small.write(axes, after + 0.1, baseline, self._attended[row], colour=MUTED)
