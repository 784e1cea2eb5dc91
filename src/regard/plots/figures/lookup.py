"""Numbers in columns, so that a computation can be followed with a finger: rows of words, blocks of numbers, a sum.

In: ledgers, each of blocks whose cells are written already. Out: a matplotlib `Figure`, the ledgers one below the
other. A vector stands in brackets; a sign before a block says how it comes from those to its left; a weight may
shade the ground of its row. Knows nothing of what the numbers mean.

A word looked up in a sentence, as ledgers: query, keys and values; similarities and weights; their sum.

In: words and plain numbers, a vector a row. Out: a matplotlib `Figure`. Computes no attention: what is drawn was
measured elsewhere, and only its products a_i v_i and their sums are made here, to be seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from regard.errors import DataError
from regard.plots.figures.canvas import new_figure, whole_page
from regard.plots.figures.lettering import Lettering, fill
from regard.plots.style import INK, SOFT, shade

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


Vector = Sequence[float]
Rows = Sequence[Vector]


def draw_lookup(
    words: Sequence[str],
    chosen: int,
    query: Vector,
    keys: Rows,
    values: Rows,
    dots: Vector,
    energies: Vector,
    weights: Vector,
) -> Figure:
    """Draw how the chosen word's new vector comes about, a step a column.

    Args:
        words: of the sentence.
        chosen: the place of the word that asks.
        query: its q.
        keys: k_i, a row for each word.
        values: v_i, likewise.
        dots: qᵀk_i.
        energies: s_i = qᵀk_i/√p.
        weights: a_i, the softmax of the energies.

    Raises:
        DataError: there is not one of each for each word.
        MissingExtraError: matplotlib is not installed.
    """
    powers = [math.exp(s) for s in energies]
    shares = [[a * v for v in row] for a, row in zip(weights, values, strict=True)]
    new = [math.fsum(column) for column in zip(*shares, strict=True)]
    asks = Ledger([words[chosen]], [Block("q", _written([query]))], chosen=0)
    lookup = Ledger(
        words,
        [
            Block("kᵢ", _written(keys), "key"),
            Block("qᵀkᵢ", _column(dots, 4), "dot product", sign="→"),
            Block("sᵢ", _column(energies), "÷ √p", sign="→"),
            Block("exp sᵢ", _column(powers), foot=[f"{math.fsum(powers):.2f}"], sign="→"),
            _weights(weights, "÷ Σ"),
            Block("vᵢ", _written(values), "value", sign="×"),
            Block(
                "aᵢ vᵢ",
                _written(shares),
                f"sum: the new vector of “{words[chosen]}”",
                foot=_written([new])[0],
                sign="=",
            ),
        ],
        chosen,
        "Σ",
    )
    return draw_ledgers([asks, lookup])


def draw_projections(
    words: Sequence[str], chosen: int, vectors: Rows, matrices: Mapping[str, Rows], projected: Sequence[Rows]
) -> Figure:
    """Draw each word's vector and what the matrices make of it.

    Args:
        words: of the sentence.
        chosen: the place of the word in bold.
        vectors: x_i, a row for each word.
        matrices: W_Q, W_K and W_V by these names.
        projected: q_i, k_i and v_i, in this order, a row for each word.
    """
    above = Ledger(
        [""] * len(next(iter(matrices.values()))),
        [Block(name, _written(rows, 1), f"{len(rows)} × {len(rows[0])}") for name, rows in matrices.items()],
    )
    blocks = [Block("xᵢ", _written(vectors, 1), "word")]
    for letter, name, rows in zip("qkv", matrices, projected, strict=True):
        blocks.append(Block(f"{letter}ᵢ", _written(rows), f"{name} xᵢ"))
    return draw_ledgers([above, Ledger(words, blocks, chosen)])


def draw_similarities(
    words: Sequence[str],
    chosen: int,
    matrices: Mapping[str, Rows],
    kinds: Mapping[tuple[str, str], tuple[Vector, Vector]],
) -> Figure:
    """Draw several similarities side by side, each with the weights it leads to.

    Args:
        words: of the sentence.
        chosen: the place of the word that asks.
        matrices: what the similarities need, all with as many rows.
        kinds: by name and formula, the energies s_i and the weights a_i.
    """
    above = Ledger(
        [""] * len(next(iter(matrices.values()))),
        [Block(name, _written(rows, 1)) for name, rows in matrices.items()],
    )
    blocks = []
    for (name, formula), (energies, weights) in kinds.items():
        blocks += [Block(name, _column(energies), formula), _weights(weights)]
    return draw_ledgers([above, Ledger(words, blocks, chosen, "Σ")])


def _weights(weights: Vector, under: str = "") -> Block:
    return Block("aᵢ", _column(weights), under, [f"{math.fsum(weights):.2f}"], weights, "→")


def _written(rows: Rows, digits: int = 2) -> list[list[str]]:
    """Numbers as they are read: a minus sign as wide as a plus, and none before a zero."""
    return [[f"{round(x, digits) + 0.0:.{digits}f}".replace("-", "−") for x in row] for row in rows]


def _column(numbers: Vector, digits: int = 2) -> list[list[str]]:
    return _written([[x] for x in numbers], digits)
