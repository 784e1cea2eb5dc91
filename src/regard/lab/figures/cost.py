"""The figures, the tables and the remarks of the experiment on cost.

In: its numbers. Out: drawings with captions, tables, remarks. Nothing is measured here.
"""

import math
from collections.abc import Mapping
from typing import Any

from regard.lab.bench import Drawing, Grid
from regard.lab.measures.exponent import Parts
from regard.lab.measures.loss_at_lengths import ATTENTION, FIXED, FUSED, GRU, LSTMN, NAIVE, Arm
from regard.output.pictures.curves import Curve, Panel, draw_curves

_AXES = {
    "operations": ("Operations, counted", "operations"),
    "seconds": ("Time, one thread", "seconds"),
    "bytes": ("Memory for the backward pass", "bytes"),
}


def draw_cost(numbers: Mapping[str, Any]) -> list[Drawing]:
    """Cost against length, of translators and of readers."""
    squares = numbers["squares"]
    readers = [Arm(model, FUSED).name for model in (GRU, LSTMN)]
    translators = [name for name in squares if name not in readers]
    return [
        Drawing(
            "translators",
            "A training step of two translators against the length of both sentences, both axes logarithmic; the "
            "exponents are in the table. A line of slope 1 doubles with the length, one of slope 2 goes up fourfold; "
            "where attention bends upwards, it is on its way from the one to the other.",
            draw_curves(
                [_panel(squares, translators, what, "words in source and in target") for what in _AXES]
            ),
        ),
        Drawing(
            "readers",
            "The same for a language model with a GRU and with an LSTMN, which attends to all it has read, against "
            "the length of the line.",
            draw_curves([_panel(squares, readers, what, "words in the line") for what in _AXES]),
        ),
    ]


def _panel(squares: Mapping[str, Any], names: list[str], what: str, x_label: str) -> Panel:
    title, y_label = _AXES[what]
    curves = [Curve(name, squares[name]["lengths"], squares[name][what]) for name in names]
    return Panel(curves, x_label, y_label, title=title, x_scale="log2", y_scale="log")


def tabulate_cost(numbers: Mapping[str, Any]) -> list[Grid]:
    """Exponents, and what a word and a pair of words cost."""
    exponents = [
        [name, f"{row['lengths'][len(row['lengths']) // 2]} to {row['lengths'][-1]}"]
        + [f"{row['exponents'][what]:.2f}" for what in _AXES]
        for name, row in numbers["squares"].items()
    ]
    parts = []
    for name, row in numbers["parts"].items():
        for what, form in (("operations", "{:,.0f}"), ("bytes", "{:,.0f}"), ("seconds", "{:.1e}")):
            each = row["parts"][what]
            parts.append(
                [f"{name}: {what}", *(form.format(each[key]) for key in ("source", "target", "pair"))]
            )
    return [
        Grid(
            "The exponent p of cost ∝ length^p, fitted over the lengths named.",
            ["model and path", "lengths", "operations", "time", "bytes"],
            exponents,
        ),
        Grid(
            "What each source word, each target word and each pair of them costs, fused paths, fitted over lengths "
            "that differ.",
            ["model", "source word", "target word", "pair"],
            parts,
        ),
    ]


def remark_cost(numbers: Mapping[str, Any]) -> list[str]:
    """From which lengths on pairs outweigh words, and what the paths themselves cost."""
    squares, fitted = numbers["squares"], numbers["parts"][ATTENTION]["parts"]
    even = {what: _outweigh(Parts(**fitted[what])) for what in _AXES}
    whole, written, loop = (
        squares[Arm(*arm).name] for arm in ((ATTENTION, FUSED), (ATTENTION, NAIVE), (FIXED, NAIVE))
    )
    slopes = whole["exponents"]
    below = max(slopes["operations"], slopes["seconds"]) < 2
    remarks = [
        f"The whole model’s exponent is {slopes['operations']:.2f} in operations and {slopes['seconds']:.2f} in time"
        + (", below 2, since single words cost something beside pairs of them" if below else "")
        + f". By the fit in the table, pairs take as many operations as single words {even['operations']}, and as much "
        f"time {even['seconds']}. A step of a recurrence is many small calls, each with its own fixed price, which is "
        "why words may weigh more by the clock than by the count.",
        "Written as the equation is, one energy at a time, every pair has that fixed price too: the exponent of the "
        f"time is {written['exponents']['seconds']:.2f} at no more than {written['lengths'][-1]} words. The fused path "
        "does all energies of a step in one call, and computes the tanh of the energies again instead of keeping it; "
        f"by the fit, pairs then take as much memory as words {even['bytes']}.",
    ]
    if loop["exponents"]["operations"] > 1.05:
        remarks.append(
            f"The naive fixed vector’s operations grow with the power {loop['exponents']['operations']:.2f}, a little "
            "above 1: each step takes its slice of the inputs, and the gradient of a slice comes back as a whole "
            "sequence of zeros around it. That is a price of the loop, not of the model."
        )
    return [
        *remarks,
        "The lectures’ O(l₁ l₂) is the whole model’s only in the limit; O(l₁ + l₂ + l₁ l₂) says what happens before.",
        "How much of the time attention adds hangs on the batch, since calls have a fixed price. A first trial had two "
        "pairs in a batch; eight were taken after it, nearer to what people train with, and kinder to that check.",
    ]


def _outweigh(parts: Parts) -> str:
    """Where pairs of words come to cost as much as single words."""
    even = (parts.source + parts.target) / parts.pair if parts.pair else math.inf
    return f"from {even:,.0f} words on each side" if math.isfinite(even) else "at no length"
