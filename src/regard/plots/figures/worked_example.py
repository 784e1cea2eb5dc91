"""Attention computed by hand: tables of numbers from vectors to energies, weights and their weighted sum.

In: words and plain numbers, one vector per row. Out: a matplotlib `Figure`. Attention is not computed here: only the
products a_i v_i and their sums are made for display. `draw_number_tables` draws any such tables: a vector is in
brackets, a sign before a block says how it follows from those to its left, and a weight may colour its row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from regard.errors import DataError
from regard.plots.colours import INK, MUTED, weight_colour
from regard.plots.equations import split_equation
from regard.plots.figures.canvas import new_figure, page_axes
from regard.plots.figures.fonts import Font, fill_rectangle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MARGIN = 0.18  # inches
_SIZE = 10.0
_LINE = 1.75  # ems from row to row
_RULE = 0.35  # extra lines before the row below the rule
_BETWEEN = 0.85  # ems between two columns of a block
_INSIDE = 0.55  # ems between a bracket and the first or last column
_APART = 1.9  # ems between two blocks, with a sign in the middle
_BELOW = 2.2  # ems between two tables


@dataclass(frozen=True)
class Block:
    """Columns that belong together: one vector or one number per row.

    Attributes:
        heading: above them, such as "kᵢ".
        cells: for each row its formatted numbers.
        under: a smaller line below the heading, such as "W_K xᵢ".
        foot: the row below the rule, one cell per column; empty for none.
        weights: for each row a weight from 0 to 1 that colours its background; empty for none.
        sign: before the block, beside the heading, such as "→"; empty for none.
        scripts: whether ``_`` in its heading and the line below is a subscript.
    """

    heading: str
    cells: Sequence[Sequence[str]]
    under: str = ""
    foot: Sequence[str] = ()
    weights: Sequence[float] = ()
    sign: str = ""
    scripts: bool = True


@dataclass(frozen=True)
class NumberTable:
    """Blocks side by side, with the same rows.

    Attributes:
        names: of the rows; the row at `chosen` is bold.
        blocks: from left to right.
        chosen: the row of the query; None for none.
        foot: the name of the row below the rule, drawn where a block has a foot.
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
        """The line of each row: the heading first, the row below the rule last."""
        first = 2 if any(block.under for block in self.blocks) else 1
        rows = [0.0, *(float(first + row) for row in range(len(self.names)))]
        return (*rows, rows[-1] + 1 + _RULE) if self.has_foot else tuple(rows)


def draw_number_tables(tables: Sequence[NumberTable]) -> Figure:
    """Draw tables one below the other, all columns as wide as the widest number.

    Raises:
        DataError: nothing to draw, or a block without one line of cells, or one weight, per row.
        MissingExtraError: matplotlib is not installed.
    """
    if not tables:
        raise DataError("a figure of number tables needs at least one; pass one or more")
    for table in tables:
        for block in table.blocks:
            _check(table, block)
    font = Font.covering([text for table in tables for text in _texts(table)], _SIZE)
    page = _Page(
        font,
        max(font.width(name, bold=True) for table in tables for name in (*table.names, table.foot)),
        max(font.width(cell) for table in tables for b in table.blocks for row in b.cells for cell in row),
    )
    em = font.em
    width = max(page.width(table) for table in tables)
    heights = [(table.lines[-1] + 1) * _LINE * em for table in tables]
    height = sum(heights) + (len(tables) - 1) * _BELOW * em
    figure = new_figure(width + 2 * _MARGIN, height + 2 * _MARGIN)
    axes = page_axes(figure)
    top = _MARGIN
    for table, tall in zip(tables, heights, strict=True):
        page.draw(axes, table, top)
        top += tall + _BELOW * em
    return figure


def _check(table: NumberTable, block: Block) -> None:
    rows, weights = len(block.cells), len(block.weights)
    if rows != len(table.names) or weights not in (0, rows):
        raise DataError(
            f"block {block.heading!r}: {rows} rows of cells and {weights} weights for {len(table.names)} names; "
            "give one per name"
        )
    wide = {len(row) for row in block.cells} | ({len(block.foot)} if block.foot else set())
    if len(wide) != 1:
        raise DataError(
            f"block {block.heading!r}: rows of {sorted(wide)} numbers; give all rows the same number"
        )


def _texts(table: NumberTable) -> list[str]:
    written = [*table.names, table.foot]
    for block in table.blocks:
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
    """The font and the widths that all tables of a figure share, in inches."""

    font: Font
    names: float
    column: float

    def width(self, table: NumberTable) -> float:
        """Of a table."""
        return self.names + sum(_APART * self.font.em + self._block_width(block) for block in table.blocks)

    def _columns(self, block: Block) -> float:
        em, count = self.font.em, len(block.cells[0])
        return count * self.column + (count - 1) * _BETWEEN * em + (2 * _INSIDE * em if count > 1 else 0.0)

    def _block_width(self, block: Block) -> float:
        """Of a block: of its columns or its heading."""
        small = self.font.smaller()
        heading = _width(self.font, block.heading, block.scripts, bold=True)
        return max(self._columns(block), heading, _width(small, block.under, block.scripts))

    def draw(self, axes: Axes, table: NumberTable, top: float) -> None:
        """Draw a table whose upper edge is at `top`."""
        font, em = self.font, self.font.em
        lines = [top + (line * _LINE + 1.1) * em for line in table.lines]
        for row, name in enumerate(table.names):
            font.write(axes, _MARGIN, lines[1 + row], name, bold=row == table.chosen)
        if table.has_foot:
            font.write(axes, _MARGIN, lines[-1], table.foot, bold=True)
            fill_rectangle(axes, _MARGIN, lines[-1] - 1.5 * em, self.width(table), 0.011, MUTED)
        left = _MARGIN + self.names
        for block in table.blocks:
            if block.sign:
                font.write(axes, left + _APART * em / 2, lines[0], block.sign, colour=MUTED, align="center")
            left += _APART * em
            self._draw_block(axes, table, block, left, lines)
            left += self._block_width(block)

    def _draw_block(
        self, axes: Axes, table: NumberTable, block: Block, left: float, lines: Sequence[float]
    ) -> None:
        font, em, count = self.font, self.font.em, len(block.cells[0])
        middle = left + self._block_width(block) / 2
        _write(font, axes, middle, lines[0], block.heading, block.scripts, bold=True)
        under = lines[0] + (_LINE - 0.2) * em
        _write(font.smaller(), axes, middle, under, block.under, block.scripts, colour=MUTED)
        wide = self._columns(block)
        start = middle - wide / 2
        inside = _INSIDE * em if count > 1 else 0.0
        ends = [start + inside + k * (self.column + _BETWEEN * em) + self.column for k in range(count)]
        for row, cells in enumerate(block.cells):
            if block.weights:
                font.fill_background(
                    axes, start - 0.3 * em, lines[1 + row], wide + 0.6 * em, weight_colour(block.weights[row])
                )
            for end, cell in zip(ends, cells, strict=True):
                font.write(axes, end, lines[1 + row], cell, bold=row == table.chosen, align="right")
        for end, cell in zip(ends, block.foot, strict=False):
            font.write(axes, end, lines[-1], cell, bold=True, align="right")
        if count > 1:
            upper, lower = lines[1] - 1.15 * em, lines[len(table.names)] + 0.45 * em
            for edge, inward in ((start, 1), (start + wide, -1)):
                _bracket(axes, edge, upper, lower, inward * 0.28 * em)


def _pieces(font: Font, text: str, scripts: bool) -> list[tuple[Font, float, str]]:
    """The font of each piece of a line, how far below the baseline it is, and its text."""
    if not scripts:
        return [(font, 0.0, text)]
    small = font.smaller(0.72)
    levels = groupby(split_equation(text), key=lambda run: run.level)
    return [
        (small if level else font, -0.22 * level * font.em, "".join(run.text for run in runs))
        for level, runs in levels
    ]


def _width(font: Font, text: str, scripts: bool, *, bold: bool = False) -> float:
    return sum(each.width(piece, bold=bold) for each, _, piece in _pieces(font, text, scripts))


def _write(
    font: Font, axes: Axes, middle: float, line: float, text: str, scripts: bool, **style: Any
) -> None:
    """Write a line centred at `middle`."""
    bold = style.get("bold", False)
    x = middle - _width(font, text, scripts, bold=bold) / 2
    for each, below, piece in _pieces(font, text, scripts):
        each.write(axes, x, line + below, piece, **style)
        x += each.width(piece, bold=bold)


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


def draw_attention_steps(
    words: Sequence[str],
    chosen: int,
    query: Vector,
    keys: Rows,
    values: Rows,
    dots: Vector,
    energies: Vector,
    weights: Vector,
) -> Figure:
    """Draw the steps of attention for one query: dot products, energies, weights, weighted sum.

    Args:
        words: of the sentence.
        chosen: the index of the query word.
        query: its q.
        keys: k_i, one row per word.
        values: v_i, one row per word.
        dots: qᵀk_i.
        energies: s_i = qᵀk_i/√p.
        weights: a_i, the softmax of the energies.

    Raises:
        DataError: not one of each per word.
        MissingExtraError: matplotlib is not installed.
    """
    powers = [math.exp(s) for s in energies]
    shares = [[a * v for v in row] for a, row in zip(weights, values, strict=True)]
    new = [math.fsum(column) for column in zip(*shares, strict=True)]
    query_table = NumberTable([words[chosen]], [Block("q", _format_rows([query]))], chosen=0)
    steps = NumberTable(
        words,
        [
            Block("kᵢ", _format_rows(keys), "key"),
            Block("qᵀkᵢ", _format_column(dots, 4), "dot product", sign="→"),
            Block("sᵢ", _format_column(energies), "÷ √p", sign="→"),
            Block("exp sᵢ", _format_column(powers), foot=[f"{math.fsum(powers):.2f}"], sign="→"),
            _weights(weights, "÷ Σ"),
            Block("vᵢ", _format_rows(values), "value", sign="×"),
            Block(
                "aᵢ vᵢ",
                _format_rows(shares),
                f"sum: the new vector of “{words[chosen]}”",
                foot=_format_rows([new])[0],
                sign="=",
                scripts=False,
            ),
        ],
        chosen,
        "Σ",
    )
    return draw_number_tables([query_table, steps])


def draw_projections(
    words: Sequence[str], chosen: int, vectors: Rows, matrices: Mapping[str, Rows], projected: Sequence[Rows]
) -> Figure:
    """Draw each word's vector and its query, key and value.

    Args:
        words: of the sentence.
        chosen: the index of the word in bold.
        vectors: x_i, one row per word.
        matrices: W_Q, W_K and W_V by these names.
        projected: q_i, k_i and v_i, in this order, one row per word.
    """
    above = NumberTable(
        [""] * len(next(iter(matrices.values()))),
        [
            Block(name, _format_rows(rows, 1), f"{len(rows)} × {len(rows[0])}")
            for name, rows in matrices.items()
        ],
    )
    blocks = [Block("xᵢ", _format_rows(vectors, 1), "word")]
    for letter, name, rows in zip("qkv", matrices, projected, strict=True):
        blocks.append(Block(f"{letter}ᵢ", _format_rows(rows), f"{name} xᵢ"))
    return draw_number_tables([above, NumberTable(words, blocks, chosen)])


def draw_similarities(
    words: Sequence[str],
    chosen: int,
    matrices: Mapping[str, Rows],
    kinds: Mapping[tuple[str, str], tuple[Vector, Vector]],
) -> Figure:
    """Draw several energy functions side by side, each with its weights.

    Args:
        words: of the sentence.
        chosen: the index of the query word.
        matrices: their parameters, all with as many rows.
        kinds: energies s_i and weights a_i, by name and formula.
    """
    above = NumberTable(
        [""] * len(next(iter(matrices.values()))),
        [Block(name, _format_rows(rows, 1)) for name, rows in matrices.items()],
    )
    blocks = []
    for (name, formula), (energies, weights) in kinds.items():
        blocks += [Block(name, _format_column(energies), formula), _weights(weights)]
    return draw_number_tables([above, NumberTable(words, blocks, chosen, "Σ")])


def _weights(weights: Vector, under: str = "") -> Block:
    return Block("aᵢ", _format_column(weights), under, [f"{math.fsum(weights):.2f}"], weights, "→")


def _format_rows(rows: Rows, digits: int = 2) -> list[list[str]]:
    """Format numbers with a minus sign as wide as a plus, and none before a zero."""
    return [[f"{round(x, digits) + 0.0:.{digits}f}".replace("-", "−") for x in row] for row in rows]


def _format_column(numbers: Vector, digits: int = 2) -> list[list[str]]:
    return _format_rows([[x] for x in numbers], digits)
