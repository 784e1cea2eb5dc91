"""A word looked up in a sentence, as ledgers: query, keys and values; similarities and weights; their sum.

In: words and plain numbers, a vector a row. Out: a matplotlib `Figure`. Computes no attention: what is drawn was
measured elsewhere, and only its products a_i v_i and their sums are made here, to be seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from regard.output.pictures.ledger import Block, Ledger, draw_ledgers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
