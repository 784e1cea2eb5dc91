"""The figures, the tables and the remarks of the experiment on cost.

In: its numbers. Out: drawings with captions, tables, remarks. Nothing is measured here.

A fixed vector costs O(l₁ + l₂), attention O(l₁ l₂).

Two small translators that differ in nothing but attention do a forward and a backward pass over sentences of growing
lengths, by the naive paths and by the fused ones; so do two readers, a GRU and an LSTMN. Operations and bytes are
counted, which is the same everywhere, and the processor's time is taken, which is not. Exponents of counts decide, and
how much of the time attention adds.
"""

import gc
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median
from typing import Any

from torch import Tensor

from regard.lab.measures.cost import (
    ATTENTION,
    FIXED,
    FUSED,
    GRU,
    LSTMN,
    NAIVE,
    Arm,
    count_work,
    processor_seconds,
    work_of,
)
from regard.lab.measures.statistics import Parts, fit_parts, fitted_exponent
from regard.lab.runner import Bench, Check, Drawing, Experiment, Finding, Grid, Verdict
from regard.plots.figures.curves import Curve, Panel, draw_curves

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


MEASURES = ("operations", "bytes", "seconds")


@dataclass(frozen=True)
class Sizes:
    """How much is done."""

    lengths: tuple[int, ...]
    """l₁ = l₂ of the fused paths, doubling."""
    naive_lengths: tuple[int, ...]
    """Of the naive paths, which take a call for every pair of words."""
    grid: tuple[int, ...]
    """Lengths that are combined, l₁ with l₂, for the parts of the cost."""
    repeats: int
    """Of every timing; the median counts."""
    size: int = 16
    """Units of embeddings, of encoder states each way, of the energies and of the readout."""
    rows: int = 8
    """Pairs in a batch."""


USUAL = Sizes((16, 32, 64, 128, 256, 512, 1024), (8, 16, 32, 64, 128), (32, 128, 512), 5)
FULL = Sizes(
    (16, 32, 64, 128, 256, 512, 1024, 2048), (8, 16, 32, 64, 128, 256), (32, 64, 128, 256, 512, 1024), 11
)


TRANSLATORS = [Arm(model, path) for path in (FUSED, NAIVE) for model in (FIXED, ATTENTION)]
READERS = [Arm(GRU, FUSED), Arm(LSTMN, FUSED)]
"""Beside the LSTMN a cell without a past to attend to; torch's LSTM would be one operation to who counts."""


def run(bench: Bench) -> Finding:
    """Do the experiment at the bench's size."""
    return find(bench, bench.choose(USUAL, FULL))


def find(bench: Bench, sizes: Sizes) -> Finding:
    """Count, time, fit, draw and decide."""
    numbers: dict[str, Any] = {"seed": bench.seed, "repeats": sizes.repeats, "size": sizes.size}
    numbers["squares"] = _squares(bench, sizes)
    numbers["parts"] = _grid(bench, sizes)
    drawings, grids = draw_cost(numbers), tabulate_cost(numbers)
    return Finding(numbers, verdict(numbers), drawings, grids, remark_cost(numbers))


def _squares(bench: Bench, sizes: Sizes) -> dict[str, Any]:
    """Every arm at l₁ = l₂."""
    lengths = {
        arm: sizes.naive_lengths if arm in TRANSLATORS and arm.path == NAIVE else sizes.lengths
        for arm in (*TRANSLATORS, *READERS)
    }
    table = _measure(bench, sizes, {arm: [(n, n) for n in lengths[arm]] for arm in lengths})
    for arm, row in table.items():
        row["lengths"] = list(lengths[arm])
        row["exponents"] = {what: fitted_exponent(row["lengths"], row[what]) for what in MEASURES}
    return {arm.name: row for arm, row in table.items()}


def _grid(bench: Bench, sizes: Sizes) -> dict[str, Any]:
    """Both fused translators at lengths that differ: what a source word, a target word and a pair of them cost."""
    pairs = [(l1, l2) for l1 in sizes.grid for l2 in sizes.grid]
    table = _measure(bench, sizes, {Arm(name, FUSED): pairs for name in (FIXED, ATTENTION)})
    for row in table.values():
        row["lengths"] = [list(pair) for pair in pairs]
        row["parts"] = {what: asdict(fit_parts(pairs, row[what])) for what in MEASURES}
    return {arm.model: row for arm, row in table.items()}


def _measure(
    bench: Bench, sizes: Sizes, lengths: Mapping[Arm, Sequence[tuple[int, int]]]
) -> dict[Arm, dict[str, Any]]:
    """Operations and bytes, counted once; seconds, the median of several rounds through all arms and lengths."""
    table: dict[Arm, dict[str, Any]] = {}
    points: dict[tuple[Arm, tuple[int, int]], Callable[[], Tensor]] = {}
    for arm, pairs in lengths.items():
        bench.voice(f"counting: {arm.name}")
        model, loss = work_of(arm, size=sizes.size, rows=sizes.rows, seed=bench.seed)
        computes = [partial(loss, *pair) for pair in pairs]
        works = [count_work(compute, model.parameters()) for compute in computes]
        table[arm] = {"operations": [w.operations for w in works], "bytes": [w.bytes for w in works]}
        points |= {(arm, pair): compute for pair, compute in zip(pairs, computes, strict=True)}
    gc.collect()
    rounds = []
    for k in range(sizes.repeats):
        bench.voice(f"timing, round {k + 1} of {sizes.repeats}")
        rounds.append({point: processor_seconds(compute) for point, compute in points.items()})
    for arm, pairs in lengths.items():
        table[arm]["seconds"] = [median(each[arm, pair] for each in rounds) for pair in pairs]
    return table


def added(squares: Mapping[str, Any], one: Arm, other: Arm, what: str) -> float:
    """The exponent of what one arm costs beyond another."""
    more, less = squares[one.name], squares[other.name]
    return fitted_exponent(more["lengths"], [a - b for a, b in zip(more[what], less[what], strict=True)])


def verdict(numbers: Mapping[str, Any]) -> Verdict:
    """Hold the numbers against the bounds."""
    squares = numbers["squares"]
    fixed, attention = (squares[Arm(name, FUSED).name] for name in (FIXED, ATTENTION))
    longest = max(fixed["lengths"])
    share = 1 - fixed["seconds"][-1] / attention["seconds"][-1]
    extra = added(squares, Arm(ATTENTION, FUSED), Arm(FIXED, FUSED), "operations")
    extra_bytes = added(squares, Arm(ATTENTION, NAIVE), Arm(FIXED, NAIVE), "bytes")
    own = added(squares, READERS[1], READERS[0], "operations")
    checks = [
        _linear("exponent of operations, fixed vector", fixed["exponents"]["operations"]),
        _linear("exponent of bytes kept, fixed vector", fixed["exponents"]["bytes"]),
        Check("exponent of the operations attention adds", extra, "at least", 1.8),
        Check(
            "exponent of the bytes attention adds, as the equation is written", extra_bytes, "at least", 1.8
        ),
        Check("exponent of the operations the LSTMN adds to a GRU’s", own, "at least", 1.8),
        Check(
            f"share of the time at {longest} × {longest} words that attention adds",
            100 * share,
            "at least",
            50,
            " %",
        ),
    ]
    middle, clock = fixed["lengths"][len(fixed["lengths"]) // 2], attention["exponents"]["seconds"]
    because = (
        f"Counted, the fixed vector’s work grows with the length to the power {fixed['exponents']['operations']:.2f}, "
        f"and what attention adds to it to the power {extra:.2f}. By the clock the whole model grows between {middle} "
        f"and {longest} words with the power {clock:.2f} with attention and {fixed['exponents']['seconds']:.2f} "
        f"without; at {longest} words on both sides attention adds {100 * share:.0f} % of the time."
    )
    return Verdict(checks, because)


def _linear(what: str, exponent: float) -> Check:
    """A control: a loop over words is linear, whatever attention costs."""
    return Check(what, exponent, "at most", 1.1, control=True)


EXPERIMENT = Experiment(
    name="cost",
    title="What attention costs",
    claim="Standard seq2seq takes time O(l₁ + l₂) for a source of l₁ and a target of l₂ words; with attention it takes "
    "O(l₁ l₂).",
    source="“Seq2Seq Model with Attention”: “Downside: higher time complexity”",
    method="RNNencdec and RNNsearch of 16 units, alike but for attention, do a training step’s forward and backward "
    "pass on batches of eight pairs without padding, l₁ = l₂ doubling, by the naive and the fused paths; a GRU and an "
    "LSTMN read lines likewise. Operations (multiply-adds of products, elements written by anything else) and the "
    "bytes kept for the backward pass are counted; processor time on one thread is the median of interleaved rounds. "
    "Exponents are slopes of log against log over the longer half of the lengths. On a grid of l₁ and l₂ the cost is "
    "split into a constant and what a source word, a target word and a pair of words cost, none below 0.",
    decides="Counts decide, because they are the same on every machine: an exponent of 1.1 at most is linear, one of "
    "1.8 at least is quadratic with some linear work beside it; that the fixed vector is linear is a control. Of the "
    "clock only this: at the longest lengths attention must add at least half of the time measured, so that attention "
    "costs as much as all the rest. This check hangs on the machine.",
    run=run,
    seconds=60,
    alone=True,
)
