"""The figure, the table and the remarks of the experiment on the bottleneck.

In: its numbers. Out: a drawing with its caption, a table, remarks. Nothing is measured here.
"""

import math
from collections.abc import Mapping
from typing import Any

from regard.lab.bench import Drawing, Grid
from regard.output.pictures.curves import Curve, Mark, Panel, draw_curves

_CAPTION = (
    "Symbols copied right and bits that get through, against the length of the line; first values recalled, against "
    "the length to which filler stretches the line. Each symbol is judged after the right ones before it. Where the "
    "dashed curve of attention follows the dotted one of all there is, the line comes through; a flat curve of bits is "
    "a vector that is full."
)


def draw_bottleneck(numbers: Mapping[str, Any]) -> list[Drawing]:
    """Three panels over T: of copying what is right and the bits, of recall what is right."""
    lengths, models = numbers["lengths"], list(numbers["copy"])
    edge = Mark(numbers["sizes"]["longest"], "learnt up to here")
    shared: dict[str, Any] = {"x_label": "T (symbols in the source)", "x_scale": "log"}

    def right(task: str, title: str, y_label: str) -> Panel:
        curves = [Curve(model, lengths, numbers[task][model]["right"]) for model in models]
        marks = [edge, Mark(numbers["guess"][task], "guess", axis="y")]
        return Panel(curves, y_label=y_label, title=title, y_range=(0, 112), marks=marks, **shared)

    bits = [Curve(model, lengths, [_above_0(n) for n in numbers["copy"][model]["bits"]]) for model in models]
    bits.append(Curve("all there is", lengths, numbers["bits to be had"]))
    panels = [
        right("copy", "Copy: symbols", "symbols right (%)"),
        Panel(
            bits, y_label="bits that get through", title="Copy: bits", y_scale="log", marks=[edge], **shared
        ),
        right("recall", "Recall", "values right (%)"),
    ]
    return [Drawing("lengths", _CAPTION, draw_curves(panels))]


def _above_0(bits: float) -> float:
    """No place on a logarithmic axis for what is not above 0."""
    return bits if bits > 0 else math.nan


def tabulate_bottleneck(numbers: Mapping[str, Any]) -> list[Grid]:
    """A row for each length: what each model copies when led, and when it goes on by itself."""
    rows = []
    for k, length in enumerate(numbers["lengths"]):
        cells = [str(length)]
        for copy in numbers["copy"].values():
            free = k < len(copy["exact"])
            cells += [
                f"{copy['right'][k]:.1f}",
                f"{copy['bits'][k]:,.0f}".replace("-", "−"),
                f"{copy['exact'][k]:.0f} / {copy['wrong'][k]:.0f}" if free else "–",
            ]
        cells += [f"{recall['right'][k]:.1f}" for recall in numbers["recall"].values()]
        rows.append(cells)
    columns = [f"{what}, {model}" for model in numbers["copy"] for what in ("right", "bits", "free")]
    grid = Grid(
        "Copying, each symbol after the right ones: percent right, and bits; and freely, after the model’s own: "
        "percent of lines without a fault / of symbols wrong. Last, percent of first values recalled.",
        ["T", *columns, *(f"recall, {model}" for model in numbers["recall"])],
        rows,
    )
    return [grid]


def remark_bottleneck(numbers: Mapping[str, Any], kept: float, above_guess: float) -> list[str]:
    """What a reader should not conclude.

    Args:
        numbers: of the experiment.
        kept: percent right that attention must keep.
        above_guess: points above a guess that the vector may be.
    """
    recall, lengths, state = numbers["recall"], numbers["lengths"], numbers["sizes"]["state"]
    remarks = [
        f"The vector has {state} numbers, room enough for far more bits than were found in it: what is measured "
        "is how much this training taught it to hold, not what it could. The ceiling may rise with --full; that there "
        "is one does not change, for the line grows and the vector does not. Below 0 bits a model is sure of wrong "
        "symbols, lengths it never learnt among them; such points are left out of the figure.",
        "Copying gives attention nothing but the neighbours to find its place by, and among many symbols the same few "
        "neighbours come again: that is where it may err at great lengths, beside a softmax over many more places "
        "than it learnt from. And it pays for T places at each of T steps (see cost).",
        "What counts in recall was changed after a trial. At first every value of a line was counted, and the vector "
        "had 44 % at every length; but by crossing off values already said, 41 to 46 % can be had without knowing "
        "which key had which. Since then only the first question counts. A layout with half of the filler before the "
        "pairs was tried in between and given up again for the first, all of it behind them.",
        "What else came from trials: Bahdanau’s RNNsearch (additive score) failed to learn to copy in one of them, so "
        "the attending model is Luong’s; 20 keys instead of 40, tied embeddings and a target that asks for all pairs, "
        "for both models, since attention did not learn recall otherwise. The rate was not tuned for the fixed vector.",
    ]
    near, late = (recall["fixed vector"]["right"][k] for k in (0, -1))
    if near <= numbers["guess"]["recall"] + above_guess:
        remarks.append(
            f"In recall the fixed vector is right {near:.0f} % of the time already at T = {lengths[0]}, where the "
            f"commonest value of the line gives {numbers['guess']['recall']:.0f} %: it has not learnt which key had "
            "which value at any length, so that its failure at the greatest says nothing of length."
        )
    elif late >= near - above_guess:
        remarks.append(
            f"In recall the fixed vector is right {near:.0f} % of the time at T = {lengths[0]} and {late:.0f} % "
            f"at T = {lengths[-1]}: what has once got into it stays there while filler is read. It is the amount "
            "that meets a bottleneck, not the length by itself."
        )
    short, far = (recall["attention"]["right"][k] for k in (0, -1))
    if short < kept:
        remarks.append(
            f"In recall attention itself is right only {short:.0f} % of the time at the shortest length, so it has not "
            f"learnt to look keys up in so short a training; at T = {lengths[-1]} it is right {far:.0f} % of the time."
        )
    return remarks
