"""The figures, the tables and the words of the experiment on gradients.

In: its numbers. Out: drawings with captions, tables, remarks. Nothing is measured here.

Gradients vanish or explode along the path; gates and attention's direct connection help.

A reader of random symbols has its loss at the last step alone. How much of it arrives at each earlier state is
measured before any training, for three cells, each plain, with attention at the end and with attention to its own
past; and after a short training that asks for the first symbol. Then the recurrent matrix is made larger until
gradients explode, and such a network is trained with clipping and without. What arrives at the first word decides.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

import numpy as np
import torch

from regard.lab.measures.gradients import (
    GRURead,
    LastStepReader,
    Quartiles,
    accuracy,
    arrived,
    draw_lines,
    endless_lines,
    growth_per_step,
    growths_by_radius,
    rate_ratio,
    teach,
    with_spectral_radius,
)
from regard.lab.measures.statistics import crossing
from regard.lab.runner import Bench, Check, Drawing, Experiment, Finding, Grid, Verdict
from regard.layers import CELLS
from regard.plots.figures.curves import Curve, Mark, Panel, draw_curves

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
            rows.append([f"{cell}, {form}", *_cells(each), *_draw_learnt(after)])
    rows += [[name, *_cells(each), *_draw_learnt(None)] for name, each in numbers["further"].items()]
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
            ["radius", "learning_rate", "with clipping", "without"],
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


def _draw_learnt(after: Mapping[str, Any] | None) -> list[str]:
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


PLAIN, ATTENTION, OWN_PAST = "plain", "with attention", "with self-attention"
KINDS = {
    "RNN": {PLAIN: "rnn", ATTENTION: "rnn", OWN_PAST: "rnn-read"},
    "GRU": {PLAIN: "gru", ATTENTION: "gru", OWN_PAST: "gru-read"},
    "LSTM": {PLAIN: "lstm", ATTENTION: "lstm", OWN_PAST: "lstmn"},
}
FURTHER = ("rnn-sum", "rnn-sum-keep")
"""The lectures' other two ways to give an RNN attention to its past: measured too, but not drawn."""
LAG, CLIP = 3, 1.0
"""In the trial of clipping: how far back is asked, and the greatest norm of a gradient."""


@dataclass(frozen=True)
class Sizes:
    """How much is done."""

    length: int = 100
    """T, the steps of the path before training."""
    size: int = 32
    """Units of states, embeddings and energies."""
    symbols: int = 8
    """Different symbols, and answers to choose from."""
    rows: int = 32
    """Lines in a batch."""
    seeds: int = 8
    """First weights that are measured before training."""
    taught_length: int = 50
    """T where the first symbol is to be learnt."""
    updates: int = 240
    """Of such a training."""
    rates: tuple[float, ...] = (0.003, 0.01)
    """Adam's; the one with the lower loss at the end counts, for every reader alike."""
    taught_seeds: int = 2
    """Of such trainings."""
    radii: tuple[float, ...] = tuple(k / 4 for k in range(2, 11))
    """Spectral radii of the recurrent matrix."""
    clip_length: int = 40
    """T in the trial of clipping."""
    clip_updates: int = 90
    """Its updates."""
    clip_radii: tuple[float, ...] = (1.5, 2.5)
    """Of the recurrent matrix at its start, ascending."""
    clip_rates: tuple[float, ...] = (0.1, 1.0)
    """Of plain gradient descent, ascending."""
    clip_seeds: int = 3
    """Its first weights."""


USUAL = Sizes()
FULL = replace(
    USUAL, length=200, seeds=30, updates=800, taught_seeds=4, clip_length=60, clip_updates=400, clip_seeds=10
)


def run(bench: Bench) -> Finding:
    """Do the experiment at the bench's size."""
    return find(bench, bench.choose(USUAL, FULL))


def find(bench: Bench, sizes: Sizes) -> Finding:
    """Measure, train, draw and decide."""
    kinds = [(cell, form, name) for cell, forms in KINDS.items() for form, name in forms.items()]
    kinds += [("further", name, name) for name in FURTHER]
    taught = [kind for kind in kinds if kind[1] in (PLAIN, ATTENTION)]
    bench.voice("gradients before training")
    found = bench.each(before_training, [(sizes, name, form == ATTENTION) for _, form, name in kinds])
    before = _nested(kinds, found)
    bench.voice("gradients after training")
    found = bench.each(after_training, [(sizes, name, form == ATTENTION) for _, form, name in taught])
    bench.voice("spectral radius and clipping")
    linear, squashed = bench.each(by_radius, [(sizes, True), (sizes, False)])
    trials = [(radius, learning_rate) for radius in sizes.clip_radii for learning_rate in sizes.clip_rates]
    clipped = bench.each(descend, [(sizes, *trial, clip) for trial in trials for clip in (CLIP, 0.0)])
    numbers = {
        "seed": bench.seed,
        "further": before.pop("further"),
        "before": before,
        "after": _nested(taught, found),
        "radius": {"radii": list(sizes.radii), "linear": linear, "tanh": squashed},
        "clipping": [
            {
                "radius": radius,
                "learning_rate": learning_rate,
                "with": clipped[2 * k],
                "without": clipped[2 * k + 1],
            }
            for k, (radius, learning_rate) in enumerate(trials)
        ],
    }
    drawings, grids = draw_gradients(numbers), tabulate_gradients(numbers)
    return Finding(numbers, verdict(numbers), drawings, grids, remark_gradients(numbers))


def before_training(bench: Bench, arm: tuple[Sizes, str, bool]) -> dict[str, Any]:
    """Norms by lag at the toolkit's own first weights: of each seed the geometric mean over a batch."""
    sizes, name, attends = arm
    norms = []
    for seed in bench.seeds(sizes.seeds):
        reader = _reader(sizes, name, attends, seed)
        dice = torch.Generator().manual_seed(seed)
        ids, answers = draw_lines(dice, sizes.rows, sizes.length, sizes.symbols)
        norms.append(reader.gradient_norms(ids, answers))
    return _over_seeds(norms)


def after_training(bench: Bench, arm: tuple[Sizes, str, bool]) -> dict[str, Any]:
    """The same after learning which symbol came first, and how often the answer is right."""
    sizes, name, attends = arm
    norms, right, chosen = [], [], []
    for seed in bench.seeds(sizes.taught_seeds):
        tried = []
        for learning_rate in sizes.rates:
            reader = _reader(sizes, name, attends, seed)
            lines = endless_lines(seed, sizes.rows, sizes.taught_length, sizes.symbols)
            optimizer = torch.optim.Adam(reader.parameters(), lr=learning_rate)
            course = teach(reader, optimizer, lines, updates=sizes.updates, clip=CLIP)
            tried.append((course.end, learning_rate, reader))
        _, learning_rate, reader = min(tried, key=lambda each: each[0])
        fresh = torch.Generator().manual_seed(1_000_000 + seed)
        ids, answers = draw_lines(fresh, 8 * sizes.rows, sizes.taught_length, sizes.symbols)
        right.append(accuracy(reader, ids, answers))
        chosen.append(learning_rate)
        norms.append(reader.gradient_norms(ids[: sizes.rows], answers[: sizes.rows]))
    return {**_over_seeds(norms), "accuracy": right, "learning_rate": chosen}


def _reader(sizes: Sizes, name: str, attends: bool, seed: int) -> LastStepReader:
    cell = GRURead if name == "gru-read" else CELLS[name]
    return LastStepReader(cell, sizes.symbols, sizes.symbols, sizes.size, attends=attends, seed=seed)


def _over_seeds(norms: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Quartiles at each lag; the growth a step, fitted over the longer half of the lags."""
    growths = [growth_per_step(each, len(each) // 2) for each in norms]
    return {**asdict(Quartiles.of(norms)), "growths": growths, "growth": float(np.median(growths))}


def by_radius(bench: Bench, arm: tuple[Sizes, bool]) -> dict[str, Any]:
    """The growth a step against the spectral radius, of a linear recurrence or of one with tanh."""
    sizes, linear = arm
    seeds = bench.seeds(sizes.seeds)
    shape = {"length": sizes.length, "size": sizes.size, "rows": sizes.rows}
    growths = [growths_by_radius(sizes.radii, seed=seed, **shape, linear=linear) for seed in seeds]
    return {**asdict(Quartiles.of(growths)), "growths": growths}


def descend(bench: Bench, arm: tuple[Sizes, float, float, float]) -> dict[str, Any]:
    """Train an RNN whose recurrent matrix starts too large by gradient descent, at one rate, clipped or not."""
    sizes, radius, learning_rate, clip = arm
    courses = []
    for seed in bench.seeds(sizes.clip_seeds):
        reader = _reader(sizes, "rnn", False, seed)
        matrix = torch.randn(sizes.size, sizes.size, generator=torch.Generator().manual_seed(seed))
        with torch.no_grad():
            reader.cell.U.copy_(with_spectral_radius(matrix, radius))
        lines = endless_lines(seed, sizes.rows, sizes.clip_length, sizes.symbols, asked=-1 - LAG)
        optimizer = torch.optim.SGD(reader.parameters(), lr=learning_rate)
        courses.append(teach(reader, optimizer, lines, updates=sizes.clip_updates, clip=clip))
    return {
        "losses": [course.losses for course in courses],
        "norms": [course.norms for course in courses],
        "end": [course.end for course in courses],
        "clip": clip,
    }


def _nested(kinds: Sequence[tuple[str, str, str]], found: Sequence[Any]) -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = {}
    for (cell, form, _), each in zip(kinds, found, strict=True):
        table.setdefault(cell, {})[form] = each
    return table


def verdict(numbers: Mapping[str, Any]) -> Verdict:
    """Hold the numbers against the bounds."""
    before, sweep = numbers["before"], numbers["radius"]
    plain = {cell: forms[PLAIN] for cell, forms in before.items()}
    lstm, gru = (rate_ratio(plain[cell]["growth"], plain["RNN"]["growth"]) for cell in ("LSTM", "GRU"))
    more = {form: _more_arrives(before, form) for form in (ATTENTION, OWN_PAST)}
    learnt = _learnt(numbers["after"])
    gain = 100 * (learnt[ATTENTION] - learnt[PLAIN])
    crossed, growth = crossing(sweep["radii"], sweep["linear"]["median"], 1.0), sweep["tanh"]["median"][-1]
    tenfold = 10 ** (1 / len(plain["RNN"]["median"]))
    of_plain = "gradient left at the first word, {} over plain, worst cell"
    checks = [
        Check(
            "gradient left at the first word, plain RNN, of that at the last",
            arrived(plain["RNN"]["median"]),
            "at most",
            0.1,
        ),
        Check("rate of falling or growing a step, LSTM over RNN, before training", lstm, "at most", 0.5),
        Check("rate of falling or growing a step, GRU over RNN, before training", gru, "at most", 0.5),
        Check(of_plain.format(ATTENTION), more[ATTENTION], "at least", 10, " ×"),
        Check(of_plain.format(OWN_PAST), more[OWN_PAST], "at least", 10, " ×"),
        Check("first symbol recalled, attention less plain, mean of cells", gain, "at least", 20, " points"),
        Check(
            "radius where a linear gradient begins to grow, from 1",
            abs(crossed - 1),
            "at most",
            0.1,
            control=True,
        ),
        Check(f"growth a step with tanh, radius {sweep['radii'][-1]}", growth, "at least", tenfold),
    ]
    lost = {cell: loss_in_words(1 - each["growth"]) for cell, each in plain.items()}
    for form in (ATTENTION, OWN_PAST):
        lost[form] = loss_in_words(float(np.max([1 - forms[form]["growth"] for forms in before.values()])))
    where = "at none of these radii" if math.isnan(crossed) else f"at a spectral radius of {crossed:.2f}"
    because = (
        f"With every step back the plain RNN loses {lost['RNN']} of its gradient, the LSTM {lost['LSTM']} and the "
        f"GRU, whose gates have learnt nothing yet, {lost['GRU']}; with attention the cell that loses most loses "
        f"{lost[ATTENTION]} a step, with self-attention {lost[OWN_PAST]}. At the first word {more[ATTENTION]:,.0f} "
        f"times as much is left with attention as without, and {more[OWN_PAST]:,.0f} times with self-attention, in "
        f"the cell where it is least. Trained, the first symbol is recalled in {100 * learnt[ATTENTION]:.0f} % of "
        f"lines with attention and in {100 * learnt[PLAIN]:.0f} % without. A linear gradient begins to grow {where}."
    )
    return Verdict(checks, because)


def _more_arrives(before: Mapping[str, Mapping[str, Any]], form: str) -> float:
    """How many times as much of the gradient is left at the first word as in the plain cell, where that is least."""
    left = [[arrived(forms[each]["median"]) for each in (form, PLAIN)] for forms in before.values()]
    return float(np.min([mine / plain if plain else math.nan for mine, plain in left]))


def _learnt(after: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """How often the first symbol is recalled, mean over seeds and cells."""
    return {
        form: float(np.mean([np.mean(forms[form]["accuracy"]) for forms in after.values()]))
        for form in (PLAIN, ATTENTION)
    }


EXPERIMENT = Experiment(
    name="gradients",
    title="How far back a gradient reaches",
    claim="Derivatives through many steps tend to be very small or very large: the longer the path, the smaller the "
    "gradient signal. Gates (LSTM, GRU) and attention’s direct connection help.",
    source="“Sequence to Sequence Model and Attention”: “Vanishing Gradient in RNNs”, “Attention Mechanism”; "
    "“Attention” (lecture 4): “Exploding or Vanishing Product of Jacobians”, “LSTM, Gated RNN”",
    method="A reader of random symbols has its loss at the last step alone; ∂loss/∂h_t is taken through every path "
    "that uses h_t, for an RNN, a GRU and an LSTM, each plain, with an additive attention from the last state to all "
    "states, and with attention to their own past, at the toolkit’s own first weights and several seeds. Plain "
    "readers and those with attention then learn to recall the first symbol, at the better of two rates each. "
    "A Gaussian recurrent matrix is scaled to spectral radii from 0.5 to 2.5; networks that start with 1.5 and "
    "2.5 are trained by gradient descent, with clipping and without.",
    decides="Vanishing means that over the whole path at most a tenth is left, exploding that it grows tenfold over as "
    "many steps T, a factor of 10^(1/T) each. Gates help when a gradient falls or grows at most half as fast as the "
    "RNN’s, by the slope of the logarithm over the longer half of the lags, as if half of the steps were gone; this "
    "is asked at the first weights, before gates have learnt anything. Attention helps when ten times as much is left "
    "at the first word as without it, in every cell: as much as vanishing takes. Growth towards the first states, "
    "which stand on every tape, is not counted as explosion. What all this is for is learning at a distance: 20 points "
    "more of recall, averaged over the cells. That a linear recurrence changes from falling to growing within 0.1 of "
    "radius 1 is a control. Clipping is shown and decides nothing.",
    run=run,
    seconds=60,
)
