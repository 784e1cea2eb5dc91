"""The figures, the tables and the words of the experiment on gradients.

In: its numbers. Out: drawings with captions, tables, remarks. Nothing is measured here.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from regard.lab.bench import Drawing, Grid
from regard.lab.measures.crossing import crossing
from regard.lab.measures.gradient_flow import Quartiles, arrived
from regard.output.pictures.curves import Curve, Mark, Panel, draw_curves

_LAG = "lag T − t, steps"
_NORM = "norm of ∂ loss(T) / ∂ h(t)"


def draw_gradients(numbers: Mapping[str, Any]) -> list[Drawing]:
    """Norms by lag before training and after, growth by radius, clipping."""
    before, after, radius = numbers["before"], numbers["after"], numbers["radius"]
    return [
        Drawing(
            "lags",
            "The norm of the gradient of the last step’s loss at each earlier state, before any training: median over "
            "seeds, the band from quartile to quartile, one panel a cell. A straight falling line is a product of "
            "Jacobians; where it turns level, attention’s direct connection has taken over.",
            draw_curves(_by_lag(before)),
        ),
        Drawing(
            "trained",
            "The same after a short training in which the first symbol of the line was to be recalled at its end. "
            "Where a curve rises to the right, the loss hangs more on the first states than on later ones, as it "
            "should in a reader that has found the first symbol; the table says which have. A reader that is right has "
            "a small loss and small gradients altogether, so it is the shape that counts, not the height.",
            draw_curves(_by_lag(after)),
        ),
        Drawing(
            "radius",
            "The factor by which a gradient grows with each step back, against the spectral radius of the recurrent "
            "matrix: median and quartiles. The linear recurrence should follow the radius; where tanh lies below it, "
            "saturation holds the growth down.",
            draw_curves([_radius_panel(radius)]),
        ),
        Drawing(
            "clipping",
            "An RNN whose recurrent matrix starts too large, trained by gradient descent at the largest of the radii "
            "and of the rates: median over seeds and quartiles. Both meet long gradients; clipping takes their "
            "direction and not their length.",
            draw_curves(_clipping_panels(numbers["clipping"])),
        ),
    ]


def _by_lag(table: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[Panel]:
    everything = [each for forms in table.values() for each in forms.values()]
    bottom = min(min(each["low"]) for each in everything)
    top = max(max(each["high"]) for each in everything)
    return [
        Panel(
            [
                Curve(form, list(range(len(each["median"]))), each["median"], each["low"], each["high"])
                for form, each in forms.items()
            ],
            _LAG,
            _NORM,
            title=cell,
            y_scale="log",
            y_range=(bottom / 2, top * 2),
        )
        for cell, forms in table.items()
    ]


def _radius_panel(radius: Mapping[str, Any]) -> Panel:
    curves = [
        Curve(name, radius["radii"], *(radius[name][part] for part in ("median", "low", "high")))
        for name in ("linear", "tanh")
    ]
    marks = [Mark(1.0, "neither grows nor falls", "y"), Mark(1.0, "radius 1")]
    return Panel(curves, "spectral radius of the recurrent matrix", "growth a step, factor", marks=marks)


def _clipping_panels(clipping: Sequence[Mapping[str, Any]]) -> list[Panel]:
    sides = clipping[-1]
    names = {"with": "with clipping", "without": "without"}
    panels = []
    for title, part, taken in (
        (f"Loss, radius {sides['radius']}, rate {sides['rate']}", "losses", False),
        ("Gradient, before clipping", "norms", False),
        ("Gradient, as taken", "norms", True),
    ):
        curves = []
        for side, label in names.items():
            clip = sides[side]["clip"]
            rows = _whole(sides[side][part])
            if taken and clip:
                rows = [[min(norm, clip) for norm in row] for row in rows]
            found = Quartiles.of(rows)
            curves.append(
                Curve(label, list(range(1, len(found.median) + 1)), found.median, found.low, found.high)
            )
        unit = "loss, nats" if part == "losses" else "norm"
        scale = "linear" if part == "losses" else "log"
        panels.append(Panel(curves, "update", unit, title=title, y_scale=scale))
    return panels


def _whole(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """Rows of one length: one that diverged has no more numbers."""
    longest = max(len(row) for row in rows)
    return [[*row, *[float("nan")] * (longest - len(row))] for row in rows]


def tabulate_gradients(numbers: Mapping[str, Any]) -> list[Grid]:
    """Decay of every reader, what was recalled, and clipping at every rate."""
    rows = []
    for cell, forms in numbers["before"].items():
        for form, each in forms.items():
            after = numbers["after"][cell].get(form)
            rows.append([f"{cell}, {form}", *_cells(each), *_learnt(after)])
    rows += [[name, *_cells(each), *_learnt(None)] for name, each in numbers["further"].items()]
    ends = [
        [f"{trial['radius']}", f"{trial['rate']}"]
        + [f"{median(trial[side]['end']):.2f}" for side in ("with", "without")]
        for trial in numbers["clipping"]
    ]
    return [
        Grid(
            "Gradients before training, and what training came to. Growth: the factor a step over the longer half of "
            "the lags. Left: the norm at the first word over that at the last.",
            ["reader", "growth a step", "left", "recalled", "growth, trained"],
            rows,
        ),
        Grid(
            "Loss at the end in nats, median over seeds, by the radius at the start and the rate of gradient descent.",
            ["radius", "rate", "with clipping", "without"],
            ends,
        ),
    ]


def _cells(each: Mapping[str, Any]) -> list[str]:
    return [f"{each['growth']:.3f}", f"{arrived(each['median']):.1e}"]


def _against_the_middle(before: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """With self-attention: how large the gradient is at lag 1 and at the first word, in units of halfway back."""
    told = []
    for cell, forms in before.items():
        norms = forms["with self-attention"]["median"]
        middle = norms[len(norms) // 2]
        near, far = norms[1] / middle, norms[-1] / middle
        told.append(
            f"the {cell}’s is {near:.2g} times as large at lag 1 and {far:.2g} times at the first word"
        )
    return "; ".join(told)


def _learnt(after: Mapping[str, Any] | None) -> list[str]:
    if after is None:
        return ["–", "–"]
    shares = [f"{100 * each:.0f} %" for each in after["accuracy"]]
    return [" · ".join(shares), f"{after['growth']:.3f}"]


def loss_in_words(share: float) -> str:
    """What a gradient loses with a step, of 1; below 0 it grows."""
    if math.isnan(share):
        return "an unknown share"
    if round(100 * share) == 0:
        return "less than 1 %" if share > 0 else "nothing"
    return f"{100 * share:.0f} %" if share > 0 else f"nothing (it grows by {-100 * share:.0f} %)"


def remark_gradients(numbers: Mapping[str, Any]) -> list[str]:
    """What else was seen, and why it may be so."""
    radius = numbers["radius"]
    tanh = crossing(radius["radii"], radius["tanh"]["median"], 1.0)
    where = f"only at a radius of {tanh:.1f}" if tanh == tanh else "at none of these radii"
    return [
        "Gates need not help by being there. At the toolkit’s first weights a GRU’s update gate stands half open and "
        "lets half of the state go at every step; the plain RNN starts with an orthogonal recurrent matrix, which "
        "loses only what tanh takes. The LSTM starts with its forget gates open on purpose. What gates add is that "
        "they can learn to keep; in so short a training none of the plain readers need have learnt it.",
        "Attention does not mend the path through the recurrence; it adds one of a single step beside it, weighted by "
        "α, about 1/T before training. Where the gradient has come down to that, it should stay. Self-attention has "
        f"only such paths. Against halfway back {_against_the_middle(numbers['before'])}. The first states stand on "
        "every later tape, so that a bend upwards there is no explosion.",
        "The papers attend to the past of an RNN and of an LSTM. For the GRU there is no such cell; here what it read "
        "takes the place of its previous state, as in the other two.",
        "Explosion needs units that are not saturated. With tanh every step is multiplied by 1 − h² as well, and the "
        f"gradient begins to grow {where}; a first trial of this sweep ended at 1.5 and saw no growth.",
        "Clipping is insurance against a rate too high for the longest gradients, and costs every long gradient some "
        "of its length: the table shows where it pays and where it does not. A loss of ln 8 ≈ 2.08 nats is guessing.",
    ]
