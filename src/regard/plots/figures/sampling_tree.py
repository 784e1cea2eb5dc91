"""A tree of alternative continuations that grows to the right.

In: branches, each a token with its probability and its continuations. Out: a matplotlib `Figure`. A column is a step;
the sampled path is straight and black, the others bend off in grey. A branch is as thick as it is probable, with its
probability in per cent behind its token. Branches never cross. Right-to-left scripts are drawn to the right, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from regard.plots.colours import INK, MUTED
from regard.plots.figures.fonts import MARGIN, Font, new_page
from regard.plots.text import percent, truncate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE = 11.0
_ROW = 1.75  # ems from row to row
_GAP = 0.42  # inches between columns, where branches bend
_PADDING = 0.05  # inches between a word and its branch
_THINNEST, _THICKEST = 0.4, 5.5  # points
_OTHER = "#a3a39d"
_KEY = "thickness, %: probability given the prefix    black: sampled"


@dataclass(frozen=True)
class Branch:
    """A token and its continuations.

    Attributes:
        word: its display form.
        probability: given the prefix; None for the root.
        taken: whether it is on the sampled path.
        after: its continuations, from top to bottom.
    """

    word: str
    probability: float | None = None
    taken: bool = False
    after: tuple[Branch, ...] = ()

    def walk(self, depth: int = 0) -> Iterator[tuple[int, Branch]]:
        """The branch and all its continuations, each with its column."""
        yield depth, self
        for branch in self.after:
            yield from branch.walk(depth + 1)


@dataclass(frozen=True)
class Placed:
    """A branch with its position.

    Attributes:
        branch: the branch.
        column: counted from 0.
        row: counted down from the root's; rows of one column are at least 1 apart.
        after: its placed continuations.
    """

    branch: Branch
    column: int
    row: float
    after: tuple[Placed, ...]

    def walk(self) -> Iterator[Placed]:
        """Itself and all its continuations."""
        yield self
        for one in self.after:
            yield from one.walk()


def place_branches(root: Branch) -> Placed:
    """Give every branch a row, as close together as possible; the sampled one keeps its parent's.

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
    """Set the rows of a branch's continuations relative to its own; return the first and last row of each column."""
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


def draw_sampling_tree(root: Branch, *, title: str | None = None) -> Figure:
    """Draw a tree of alternatives.

    Args:
        root: its word may be empty.
        title: a line above it.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    places = list(place_branches(root).walk())
    font = Font.covering([title or "", _KEY, *(one.branch.word for one in places)], _SIZE)
    small = font.smaller(0.75)
    num_columns = 1 + max(one.column for one in places)
    widths = [
        max(_width(one.branch, font) for one in places if one.column == column)
        for column in range(num_columns)
    ]
    lefts = [MARGIN + sum(widths[:column]) + column * _GAP for column in range(num_columns)]
    first, last = (choose(one.row for one in places) for choose in (min, max))
    height = (last - first + 1) * _ROW * font.em
    width = max(lefts[-1] + widths[-1] - MARGIN, small.width(_KEY))
    page = new_page(font, width, height + 2 * small.em, title=title)
    axes, top = page.axes, page.top + 1.1 * font.em
    for one in places:
        baseline = top + (one.row - first) * _ROW * font.em
        _write(axes, font, one.branch, lefts[one.column], baseline)
        for leaving in one.after:
            end = top + (leaving.row - first) * _ROW * font.em
            start = lefts[one.column] + _width(one.branch, font) + _PADDING
            bend = lefts[one.column] + widths[one.column] + _PADDING
            middle = 0.36 * font.em  # half the height of lower-case letters
            across = (start, bend, lefts[leaving.column] - _PADDING)
            _bend(axes, across, (baseline - middle, end - middle), leaving.branch)
    small.write(axes, MARGIN, page.top + height + 1.4 * small.em, _KEY, colour=MUTED)
    return page.figure


def _number(branch: Branch) -> str:
    return "" if branch.probability is None else percent(branch.probability)


def _width(branch: Branch, font: Font) -> float:
    number = font.smaller(0.75).width(_number(branch)) + 0.35 * font.em if _number(branch) else 0.0
    return font.width(truncate(branch.word), bold=branch.taken) + number


def _write(axes: Axes, font: Font, branch: Branch, left: float, baseline: float) -> None:
    word = truncate(branch.word)
    root = branch.probability is None
    font.write(axes, left, baseline, word, colour=INK if branch.taken or root else MUTED, bold=branch.taken)
    after = left + font.width(word, bold=branch.taken) + 0.35 * font.em
    if not root:
        font.smaller(0.75).write(
            axes, after, baseline, _number(branch), colour=INK if branch.taken else MUTED
        )


def _bend(axes: Axes, across: tuple[float, float, float], down: tuple[float, float], branch: Branch) -> None:
    """Draw a branch: straight to the end of the column, then an S to its token."""
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
