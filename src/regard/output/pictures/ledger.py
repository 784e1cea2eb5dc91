"""Numbers in columns, so that a computation can be followed with a finger: rows of words, blocks of numbers, a sum.

In: ledgers, each of blocks whose cells are written already. Out: a matplotlib `Figure`, the ledgers one below the
other. A vector stands in brackets; a sign before a block says how it comes from those to its left; a weight may
shade the ground of its row. Knows nothing of what the numbers mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from regard.errors import DataError
from regard.output.pictures.canvas import new_figure, whole_page
from regard.output.pictures.lettering import Lettering, fill
from regard.output.pictures.shade import INK, SOFT, shade

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARGIN = 0.18  # inches
_SIZE = 10.0
_LINE = 1.75  # ems from row to row
_RULE = 0.35  # lines more before the one below the rule
_BETWEEN = 0.85  # ems between two columns of a block
_INSIDE = 0.55  # ems between a bracket and the first or last column
_APART = 1.9  # ems between two blocks; a sign stands in the middle
_BELOW = 2.2  # ems between two ledgers


@dataclass(frozen=True)
class Block:
    """Columns that belong together: a vector a row, or a number a row.

    Attributes:
        heading: above them, such as "kᵢ".
        cells: for each row the numbers as they are to be read.
        under: a smaller line under the heading, such as "W_K xᵢ".
        foot: what stands below the rule, one for each column; empty for nothing.
        shades: for each row the weight, from 0 to 1, that darkens its ground; empty for none.
        sign: before the block, on the heading's line, such as "→"; empty for none.
    """

    heading: str
    cells: Sequence[Sequence[str]]
    under: str = ""
    foot: Sequence[str] = ()
    shades: Sequence[float] = ()
    sign: str = ""


@dataclass(frozen=True)
class Ledger:
    """Blocks side by side, with the same rows.

    Attributes:
        names: what stands before each row; the row at `chosen` is bold.
        blocks: from left to right.
        chosen: the row that is looked from; None for none.
        foot: what stands before the row below the rule; it is drawn where a block has a foot.
    """

    names: Sequence[str]
    blocks: Sequence[Block]
    chosen: int | None = None
    foot: str = ""

    @property
    def has_foot(self) -> bool:
        """Whether there is a row below a rule."""
        return any(block.foot for block in self.blocks)

    @property
    def lines(self) -> tuple[float, ...]:
        """How many lines below the top each row stands, the headings' first, the one below the rule last."""
        first = 2 if any(block.under for block in self.blocks) else 1
        rows = [0.0, *(float(first + row) for row in range(len(self.names)))]
        return (*rows, rows[-1] + 1 + _RULE) if self.has_foot else tuple(rows)


def draw_ledgers(ledgers: Sequence[Ledger]) -> Figure:
    """Draw ledgers one below the other, all columns as wide as the widest number.

    Raises:
        DataError: nothing to draw, or a block without one line of cells, or one shade, for each row.
        MissingExtraError: matplotlib is not installed.
    """
    if not ledgers:
        raise DataError("a picture of ledgers needs at least one; give it some")
    for ledger in ledgers:
        for block in ledger.blocks:
            _check(ledger, block)
    letters = Lettering.of([text for ledger in ledgers for text in _texts(ledger)], _SIZE)
    page = _Page(
        letters,
        max(letters.width(name, bold=True) for ledger in ledgers for name in (*ledger.names, ledger.foot)),
        max(
            letters.width(cell)
            for ledger in ledgers
            for b in ledger.blocks
            for row in b.cells
            for cell in row
        ),
    )
    em = letters.em
    width = max(page.width(ledger) for ledger in ledgers)
    heights = [(ledger.lines[-1] + 1) * _LINE * em for ledger in ledgers]
    height = sum(heights) + (len(ledgers) - 1) * _BELOW * em
    figure = new_figure(width + 2 * _MARGIN, height + 2 * _MARGIN)
    axes = whole_page(figure)
    top = _MARGIN
    for ledger, tall in zip(ledgers, heights, strict=True):
        page.draw(axes, ledger, top)
        top += tall + _BELOW * em
    return figure


def _check(ledger: Ledger, block: Block) -> None:
    rows, shades = len(block.cells), len(block.shades)
    if rows != len(ledger.names) or shades not in (0, rows):
        raise DataError(
            f"block {block.heading!r}: {rows} rows of cells and {shades} shades for {len(ledger.names)} names; "
            "give one each"
        )
    wide = {len(row) for row in block.cells} | ({len(block.foot)} if block.foot else set())
    if len(wide) != 1:
        raise DataError(f"block {block.heading!r}: rows of {sorted(wide)} numbers; give all of them as many")


def _texts(ledger: Ledger) -> list[str]:
    written = [*ledger.names, ledger.foot]
    for block in ledger.blocks:
        written += [
            block.heading,
            block.under,
            block.sign,
            *block.foot,
            *(c for row in block.cells for c in row),
        ]
    return written


@dataclass(frozen=True)
class _Page:
    """The letters and the widths that all ledgers of a picture share, in inches."""

    letters: Lettering
    names: float
    column: float

    def width(self, ledger: Ledger) -> float:
        """Of a ledger."""
        return self.names + sum(_APART * self.letters.em + self._wide(block) for block in ledger.blocks)

    def _columns(self, block: Block) -> float:
        em, count = self.letters.em, len(block.cells[0])
        return count * self.column + (count - 1) * _BETWEEN * em + (2 * _INSIDE * em if count > 1 else 0.0)

    def _wide(self, block: Block) -> float:
        """Of a block: its columns or its heading, whichever needs more room."""
        small = self.letters.smaller()
        return max(
            self._columns(block), self.letters.width(block.heading, bold=True), small.width(block.under)
        )

    def draw(self, axes: Axes, ledger: Ledger, top: float) -> None:
        """Draw a ledger whose upper edge is at `top`."""
        letters, em = self.letters, self.letters.em
        lines = [top + (line * _LINE + 1.1) * em for line in ledger.lines]
        for row, name in enumerate(ledger.names):
            letters.write(axes, _MARGIN, lines[1 + row], name, bold=row == ledger.chosen)
        if ledger.has_foot:
            letters.write(axes, _MARGIN, lines[-1], ledger.foot, bold=True)
            fill(axes, _MARGIN, lines[-1] - 1.5 * em, self.width(ledger), 0.011, SOFT)
        left = _MARGIN + self.names
        for block in ledger.blocks:
            if block.sign:
                letters.write(axes, left + _APART * em / 2, lines[0], block.sign, colour=SOFT, align="center")
            left += _APART * em
            self._draw_block(axes, ledger, block, left, lines)
            left += self._wide(block)

    def _draw_block(
        self, axes: Axes, ledger: Ledger, block: Block, left: float, lines: Sequence[float]
    ) -> None:
        letters, em, count = self.letters, self.letters.em, len(block.cells[0])
        middle = left + self._wide(block) / 2
        letters.write(axes, middle, lines[0], block.heading, bold=True, align="center")
        letters.smaller().write(
            axes, middle, lines[0] + (_LINE - 0.2) * em, block.under, colour=SOFT, align="center"
        )
        wide = self._columns(block)
        start = middle - wide / 2
        inside = _INSIDE * em if count > 1 else 0.0
        ends = [start + inside + k * (self.column + _BETWEEN * em) + self.column for k in range(count)]
        for row, cells in enumerate(block.cells):
            if block.shades:
                letters.box(axes, start - 0.3 * em, lines[1 + row], wide + 0.6 * em, shade(block.shades[row]))
            for end, cell in zip(ends, cells, strict=True):
                letters.write(axes, end, lines[1 + row], cell, bold=row == ledger.chosen, align="right")
        for end, cell in zip(ends, block.foot, strict=False):
            letters.write(axes, end, lines[-1], cell, bold=True, align="right")
        if count > 1:
            upper, lower = lines[1] - 1.15 * em, lines[len(ledger.names)] + 0.45 * em
            for edge, inward in ((start, 1), (start + wide, -1)):
                _bracket(axes, edge, upper, lower, inward * 0.28 * em)


def _bracket(axes: Axes, edge: float, upper: float, lower: float, inward: float) -> None:
    axes.plot(
        [edge + inward, edge, edge, edge + inward],
        [upper, upper, lower, lower],
        color=INK,
        linewidth=0.8,
        solid_joinstyle="miter",
    )
