"""A tree of words that grows to the right: what was said, and what might have been said instead.

In: branches, each a word with its probability and what may follow it. Out: a matplotlib `Figure`. A column is a step;
the taken way runs straight and black, the others bend off in grey; a branch is as thick as it is likely, and its
probability stands behind its word in per cent. Branches never cross. Knows nothing of models; scripts that run to the
left are drawn to the right all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from regard.plots.figures.canvas import new_figure, require_matplotlib, whole_page
from regard.plots.figures.growth import per_cent
from regard.plots.figures.lettering import Lettering
from regard.plots.style import INK, SOFT, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARGIN = 0.15  # inches
_SIZE = 11.0
_ROW = 1.75  # ems from row to row
_GAP = 0.42  # inches between columns, where branches bend
_PADDING = 0.05  # inches between a word and its branch
_THINNEST, _THICKEST = 0.4, 5.5  # points
_OTHER = "#a3a39d"
_KEY = "thickness, %: probability given all before    black: taken"


@dataclass(frozen=True)
class Branch:
    """A word and what may follow it.

    Attributes:
        word: as it is shown.
        probability: given all before it; None for a root, which has none.
        taken: whether it is on the way that was taken.
        after: the branches that leave it, from top to bottom.
    """

    word: str
    probability: float | None = None
    taken: bool = False
    after: tuple[Branch, ...] = ()

    def walk(self, depth: int = 0) -> Iterator[tuple[int, Branch]]:
        """The branch and all that leave it, each with its column."""
        yield depth, self
        for branch in self.after:
            yield from branch.walk(depth + 1)


@dataclass(frozen=True)
class Placed:
    """A branch with its place.

    Attributes:
        branch: what is placed.
        column: counted from 0.
        row: down from the root's; rows of one column are at least 1 apart.
        after: the same of what leaves it.
    """

    branch: Branch
    column: int
    row: float
    after: tuple[Placed, ...]

    def walk(self) -> Iterator[Placed]:
        """Itself and all that leave it."""
        yield self
        for one in self.after:
            yield from one.walk()


def place_branches(root: Branch) -> Placed:
    """Give every branch a row, as close together as they go without touching; the taken one keeps its parent's.

    Args:
        root: of the tree.
    """
    rows: dict[int, float] = {}
    _pack(root, rows)

    def placed(branch: Branch, column: int, row: float) -> Placed:
        after = tuple(placed(one, column + 1, row + rows[id(one)]) for one in branch.after)
        return Placed(branch, column, row, after)

    return placed(root, 0, 0.0)


def _pack(branch: Branch, rows: dict[int, float]) -> list[tuple[float, float]]:
    """Note the rows of what leaves a branch, counted from its own; return the first and last of each column."""
    below: list[float] = []  # the last row so far, in each column to the right
    outlines: list[list[tuple[float, float]]] = []
    shifts: list[float] = []
    for one in branch.after:
        outline = _pack(one, rows)
        touching = zip(below, outline, strict=False)
        shift = max((last + 1 - first for last, (first, _) in touching), default=0.0)
        shifts.append(shift)
        outlines.append(outline)
        reached = [shift + last for _, last in outline]
        below = reached + below[len(reached) :]
    if not branch.after:
        return [(0.0, 0.0)]
    taken = [k for k, one in enumerate(branch.after) if one.taken]
    middle = shifts[taken[0]] if taken else (shifts[0] + shifts[-1]) / 2
    whole: list[tuple[float, float]] = []
    for one, shift, outline in zip(branch.after, shifts, outlines, strict=True):
        rows[id(one)] = shift - middle
        for column, (first, last) in enumerate(outline):
            here = (first + shift - middle, last + shift - middle)
            if column < len(whole):
                whole[column] = (min(whole[column][0], here[0]), max(whole[column][1], here[1]))
            else:
                whole.append(here)
    return [(0.0, 0.0), *whole]


def draw_tree(root: Branch, *, title: str | None = None) -> Figure:
    """Draw a tree of alternatives.

    Args:
        root: what all begins with; its word may be empty.
        title: a line above it.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    require_matplotlib()
    places = list(place_branches(root).walk())
    letters = Lettering.of([title or "", _KEY, *(one.branch.word for one in places)], _SIZE)
    small = letters.smaller(0.75)
    num_columns = 1 + max(one.column for one in places)
    widths = [
        max(_width(one.branch, letters) for one in places if one.column == column)
        for column in range(num_columns)
    ]
    lefts = [_MARGIN + sum(widths[:column]) + column * _GAP for column in range(num_columns)]
    first, last = (choose(one.row for one in places) for choose in (min, max))
    head = 2 * letters.em if title else 0.0
    tall = (last - first + 1) * _ROW * letters.em
    inner = max(lefts[-1] + widths[-1] - _MARGIN, small.width(_KEY), letters.width(title or "", bold=True))
    figure = new_figure(inner + 2 * _MARGIN, head + tall + 2 * small.em + 2 * _MARGIN)
    axes = whole_page(figure)
    if title:
        letters.write(axes, _MARGIN, _MARGIN + letters.em, title, bold=True)
    top = _MARGIN + head + 1.1 * letters.em
    for one in places:
        baseline = top + (one.row - first) * _ROW * letters.em
        _write(axes, letters, one.branch, lefts[one.column], baseline)
        for leaving in one.after:
            end = top + (leaving.row - first) * _ROW * letters.em
            start = lefts[one.column] + _width(one.branch, letters) + _PADDING
            bend = lefts[one.column] + widths[one.column] + _PADDING
            middle = 0.36 * letters.em  # of small letters, above their baseline
            across = (start, bend, lefts[leaving.column] - _PADDING)
            _bend(axes, across, (baseline - middle, end - middle), leaving.branch)
    small.write(axes, _MARGIN, _MARGIN + head + tall + 1.4 * small.em, _KEY, colour=SOFT)
    return figure


def _number(branch: Branch) -> str:
    return "" if branch.probability is None else per_cent(branch.probability)


def _width(branch: Branch, letters: Lettering) -> float:
    number = letters.smaller(0.75).width(_number(branch)) + 0.35 * letters.em if _number(branch) else 0.0
    return letters.width(shortened(branch.word), bold=branch.taken) + number


def _write(axes: Axes, letters: Lettering, branch: Branch, left: float, baseline: float) -> None:
    word = shortened(branch.word)
    root = branch.probability is None
    letters.write(axes, left, baseline, word, colour=INK if branch.taken or root else SOFT, bold=branch.taken)
    after = left + letters.width(word, bold=branch.taken) + 0.35 * letters.em
    if not root:
        letters.smaller(0.75).write(
            axes, after, baseline, _number(branch), colour=INK if branch.taken else SOFT
        )


def _bend(axes: Axes, across: tuple[float, float, float], down: tuple[float, float], branch: Branch) -> None:
    """A branch: level to where the column ends, then in an S to its word."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    start, bend, end = across
    half = (bend + end) / 2
    points = [(start, down[0]), (bend, down[0]), (half, down[0]), (half, down[1]), (end, down[1])]
    codes = [Path.MOVETO, Path.LINETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    width = _THINNEST + (_THICKEST - _THINNEST) * (branch.probability or 0.0)
    axes.add_patch(
        PathPatch(
            Path(points, codes),
            fill=False,
            linewidth=width,
            edgecolor=INK if branch.taken else _OTHER,
            capstyle="butt",
            zorder=2 if branch.taken else 1,
        )
    )
