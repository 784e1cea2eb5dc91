"""Gradients vanish or explode along the path; gates and attention's direct connection help.

A reader of random symbols has its loss at the last step only. How much of the gradient arrives at each earlier state is
measured before any training, for three cells, each plain, with attention at the end and with attention to its own past;
and after a short training to recall the first symbol. Then the recurrent matrix is scaled up until gradients explode,
and such a network is trained with clipping and without. What decides: how much arrives at the first word.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import numpy as np
import torch

from regard.config import Config
from regard.lab.measures.gradients import (
    GRURead,
    LastStepReader,
    Quartiles,
    accuracy,
    growth_per_step,
    growths_by_radius,
    log_growth_ratio,
    remaining,
    sample_lines,
    stream_lines,
    train_reader,
    with_spectral_radius,
)
from regard.lab.measures.statistics import crossing
from regard.lab.runner import (
    Bench,
    CaptionedFigure,
    Check,
    Experiment,
    Finding,
    Table,
    Verdict,
    read_registration,
)
from regard.layers import CELLS
from regard.plots.figures.curves import Curve, Mark, Panel, draw_curves

PLAIN, ATTENTION, OWN_PAST = "plain", "with attention", "with self-attention"
KINDS = {
    "RNN": {PLAIN: "rnn", ATTENTION: "rnn", OWN_PAST: "rnn-read"},
    "GRU": {PLAIN: "gru", ATTENTION: "gru", OWN_PAST: "gru-read"},
    "LSTM": {PLAIN: "lstm", ATTENTION: "lstm", OWN_PAST: "lstmn"},
}
FURTHER = ("rnn-sum", "rnn-sum-keep", "rnn-sigmoid")
"""The lectures' other two ways to give an RNN attention to its past, and lecture 5's RNN with a logistic sigmoid and
without biases: measured before training too, but not plotted."""
LAG, CLIP = 3, 1.0
"""In the trial of clipping: how far back the answer is, and the greatest norm of a gradient."""


@dataclass(frozen=True)
class GradientsSizes(Config):
    """The size of the experiment.

    Attributes:
        length: T, the steps of the path before training.
        size: units of states, embeddings and energies.
        symbols: different symbols, and answers to choose from.
        rows: lines in a batch.
        seeds: initial weights that are measured before training.
        taught_length: T where the first symbol is to be recalled.
        updates: of that training.
        rates: Adam's learning rates; the one with the lower final loss counts, for every reader.
        taught_seeds: of that training.
        radii: spectral radii of the recurrent matrix.
        clip_length: T in the trial of clipping.
        clip_updates: of that trial.
        clip_radii: of the initial recurrent matrix, ascending.
        clip_rates: learning rates of plain gradient descent, ascending.
        clip_seeds: initial weights in that trial.
    """

    length: int
    size: int
    symbols: int
    rows: int
    seeds: int
    taught_length: int
    updates: int
    rates: tuple[float, ...]
    taught_seeds: int
    radii: tuple[float, ...]
    clip_length: int
    clip_updates: int
    clip_radii: tuple[float, ...]
    clip_rates: tuple[float, ...]
    clip_seeds: int


REGISTERED = read_registration(__file__, GradientsSizes.from_mapping)
BOUNDS = REGISTERED.bounds


def measure(bench: Bench, sizes: GradientsSizes) -> Finding:
    """Measure before and after training, by radius, and with clipping."""
    kinds = [(cell, form, name) for cell, forms in KINDS.items() for form, name in forms.items()]
    kinds += [("further", name, name) for name in FURTHER]
    trained = [kind for kind in kinds if kind[1] in (PLAIN, ATTENTION)]
    bench.report("gradients before training")
    before = _by_cell(
        kinds,
        bench.starmap(before_training, [(sizes, name, form == ATTENTION) for _, form, name in kinds]),
    )
    bench.report("gradients after training")
    after = _by_cell(
        trained,
        bench.starmap(after_training, [(sizes, name, form == ATTENTION) for _, form, name in trained]),
    )
    bench.report("spectral radius and clipping")
    linear, tanh = bench.starmap(by_radius, [(sizes, True), (sizes, False)])
    trials = [(radius, learning_rate) for radius in sizes.clip_radii for learning_rate in sizes.clip_rates]
    descents = bench.starmap(descend, [(sizes, *trial, clip) for trial in trials for clip in (CLIP, 0.0)])
    numbers = {
        "seed": bench.seed,
        "further": before.pop("further"),
        "before": before,
        "after": after,
        "radius": {"radii": list(sizes.radii), "linear": linear, "tanh": tanh},
        "clipping": [
            {
                "radius": radius,
                "learning_rate": learning_rate,
                "with": descents[2 * k],
                "without": descents[2 * k + 1],
            }
            for k, (radius, learning_rate) in enumerate(trials)
        ],
    }
    return Finding(
        numbers, verdict(numbers), make_figures(numbers), make_tables(numbers), write_remarks(numbers)
    )


def _by_cell(kinds: Sequence[tuple[str, str, str]], measured: Sequence[Any]) -> dict[str, dict[str, Any]]:
    """Results by cell and form."""
    table: dict[str, dict[str, Any]] = {}
    for (cell, form, _), result in zip(kinds, measured, strict=True):
        table.setdefault(cell, {})[form] = result
    return table


def before_training(bench: Bench, sizes: GradientsSizes, name: str, attends: bool) -> dict[str, Any]:
    """Norms by lag at the toolkit's own initial weights: for each seed the geometric mean over a batch."""
    norms = []
    for seed in bench.seeds(sizes.seeds):
        reader = _reader(sizes, name, attends, seed)
        generator = torch.Generator().manual_seed(seed)
        ids, answers = sample_lines(generator, sizes.rows, sizes.length, sizes.symbols)
        norms.append(reader.gradient_norms(ids, answers))
    return _over_seeds(norms)


def after_training(bench: Bench, sizes: GradientsSizes, name: str, attends: bool) -> dict[str, Any]:
    """The same after training to recall the first symbol, and the accuracy."""
    norms, accuracies, rates = [], [], []
    for seed in bench.seeds(sizes.taught_seeds):
        tried = []
        for learning_rate in sizes.rates:
            reader = _reader(sizes, name, attends, seed)
            lines = stream_lines(seed, sizes.rows, sizes.taught_length, sizes.symbols)
            optimizer = torch.optim.Adam(reader.parameters(), lr=learning_rate)
            curve = train_reader(reader, optimizer, lines, updates=sizes.updates, clip=CLIP)
            tried.append((curve.final_loss, learning_rate, reader))
        _, learning_rate, reader = min(tried, key=lambda each: each[0])
        generator = torch.Generator().manual_seed(1_000_000 + seed)
        ids, answers = sample_lines(generator, 8 * sizes.rows, sizes.taught_length, sizes.symbols)
        accuracies.append(accuracy(reader, ids, answers))
        rates.append(learning_rate)
        norms.append(reader.gradient_norms(ids[: sizes.rows], answers[: sizes.rows]))
    return {**_over_seeds(norms), "accuracy": accuracies, "learning_rate": rates}


def _reader(sizes: GradientsSizes, name: str, attends: bool, seed: int) -> LastStepReader:
    cell = GRURead if name == "gru-read" else CELLS[name]
    bias = name != "rnn-sigmoid"
    return LastStepReader(
        cell, sizes.symbols, sizes.symbols, sizes.size, attends=attends, seed=seed, bias=bias
    )


def _over_seeds(norms: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Quartiles at each lag; by seed, the growth per step over the longer half of the lags and what is left."""
    growths = [growth_per_step(each, len(each) // 2) for each in norms]
    return {
        **asdict(Quartiles.of(norms)),
        "growths": growths,
        "growth": float(np.median(growths)),
        "left": [remaining(each) for each in norms],
    }


def by_radius(bench: Bench, sizes: GradientsSizes, linear: bool) -> dict[str, Any]:
    """The growth per step against the spectral radius, of a linear recurrence or of one with tanh."""
    seeds = bench.seeds(sizes.seeds)
    shape = {"length": sizes.length, "size": sizes.size, "rows": sizes.rows}
    growths = [growths_by_radius(sizes.radii, seed=seed, **shape, linear=linear) for seed in seeds]
    return {**asdict(Quartiles.of(growths)), "growths": growths}


def descend(
    bench: Bench, sizes: GradientsSizes, radius: float, learning_rate: float, clip: float
) -> dict[str, Any]:
    """Train an RNN whose recurrent matrix starts too large by gradient descent, clipped or not."""
    curves = []
    for seed in bench.seeds(sizes.clip_seeds):
        reader = _reader(sizes, "rnn", False, seed)
        matrix = torch.randn(sizes.size, sizes.size, generator=torch.Generator().manual_seed(seed))
        with torch.no_grad():
            reader.cell.U.copy_(with_spectral_radius(matrix, radius))
        lines = stream_lines(seed, sizes.rows, sizes.clip_length, sizes.symbols, position=-1 - LAG)
        optimizer = torch.optim.SGD(reader.parameters(), lr=learning_rate)
        curves.append(train_reader(reader, optimizer, lines, updates=sizes.clip_updates, clip=clip))
    return {
        "losses": [curve.losses for curve in curves],
        "norms": [curve.norms for curve in curves],
        "end": [curve.final_loss for curve in curves],
        "clip": clip,
    }


def verdict(numbers: Mapping[str, Any]) -> Verdict:
    """Numbers before and after training, one per seed, against their bounds; see `EXPERIMENT.decides`."""
    before, after, sweep = numbers["before"], numbers["after"], numbers["radius"]
    plain = {cell: forms[PLAIN] for cell, forms in before.items()}
    more = {form: _more_remains(before, form) for form in (ATTENTION, OWN_PAST)}
    recalled = _mean_recall(after)
    gains = [100 * (a - b) for a, b in zip(recalled[ATTENTION], recalled[PLAIN], strict=True)]
    crossed, growths = crossing(sweep["radii"], sweep["linear"]["median"], 1.0), sweep["tanh"]["growths"]
    tenfold = 10 ** (1 / len(plain["RNN"]["median"]))
    of_plain = "gradient left at the first word, {} over plain, worst cell"
    checks = [
        Check.over_seeds(
            "gradient lost from the last word to the first, plain RNN",
            [-_log10(left) for left in plain["RNN"]["left"]],
            "at least",
            BOUNDS["vanished"],
            " orders",
        )
    ]
    for when, table in (("before", before), ("after", after)):
        for cell in ("LSTM", "GRU"):
            pairs = zip(table[cell][PLAIN]["growths"], table["RNN"][PLAIN]["growths"], strict=True)
            learned = Check.over_seeds(
                f"first symbol recalled after training, plain {cell}",
                [100 * share for share in after[cell][PLAIN]["accuracy"]],
                "at least",
                BOUNDS["learned"],
                " %",
            )
            checks.append(
                Check.over_seeds(
                    f"rate of decay or growth per step, {cell} over RNN, {when} training",
                    [log_growth_ratio(own, other) for own, other in pairs],
                    "at most",
                    BOUNDS["gated"],
                    given=learned if when == "after" else None,
                )
            )
    checks += [
        Check.over_seeds(
            of_plain.format(form),
            [_log10(times) for times in more[form]],
            "at least",
            BOUNDS["direct"],
            " orders",
        )
        for form in (ATTENTION, OWN_PAST)
    ]
    checks += [
        Check.over_seeds(
            "first symbol recalled, attention minus plain, mean of cells",
            gains,
            "at least",
            BOUNDS["recall_gain"],
            " points",
        ),
        Check(
            "radius where a linear gradient begins to grow, from 1",
            abs(crossed - 1),
            "at most",
            BOUNDS["radius"],
            control=True,
        ),
        Check.over_seeds(
            f"growth per step with tanh, radius {sweep['radii'][-1]}",
            [growth[-1] for growth in growths],
            "at least",
            tenfold,
        ),
    ]
    lost = {cell: loss_in_words(1 - each["growth"]) for cell, each in plain.items()}
    for form in (ATTENTION, OWN_PAST):
        lost[form] = loss_in_words(float(np.max([1 - forms[form]["growth"] for forms in before.values()])))
    where = "at none of these radii" if math.isnan(crossed) else f"at a spectral radius of {crossed:.2f}"
    because = (
        f"With every step back the plain RNN loses {lost['RNN']} of its gradient, the LSTM {lost['LSTM']} and the "
        f"GRU, whose gates are untrained, {lost['GRU']}; with attention the cell that loses most loses "
        f"{lost[ATTENTION]} per step, with self-attention {lost[OWN_PAST]}. At the first word "
        f"{np.median(more[ATTENTION]):,.0f} "
        f"times as much is left with attention as without, and {np.median(more[OWN_PAST]):,.0f} times with "
        "self-attention, in "
        "the cell where it is least. After training, the first symbol is recalled in "
        f"{100 * np.mean(recalled[ATTENTION]):.0f} "
        f"% of lines with attention and in {100 * np.mean(recalled[PLAIN]):.0f} % without. A linear gradient begins "
        "to grow "
        f"{where}."
    )
    return Verdict(checks, because)


def _log10(ratio: float) -> float:
    """Orders of magnitude; nan for 0 and for what is not a number."""
    return math.log10(ratio) if ratio > 0 else math.nan


def _more_remains(before: Mapping[str, Mapping[str, Any]], form: str) -> list[float]:
    """How many times as much gradient is left at the first word as in the plain cell, in the worst cell, by seed."""
    cells = [np.array(forms[form]["left"]) / np.array(forms[PLAIN]["left"]) for forms in before.values()]
    worst: list[float] = np.min(cells, axis=0).tolist()
    return worst


def _mean_recall(after: Mapping[str, Mapping[str, Any]]) -> dict[str, list[float]]:
    """How often the first symbol is recalled, mean over cells, by seed."""
    return {
        form: np.mean([forms[form]["accuracy"] for forms in after.values()], axis=0).tolist()
        for form in (PLAIN, ATTENTION)
    }


def loss_in_words(share: float) -> str:
    """The share of a gradient that is lost per step, of 1; below 0 it grows."""
    if math.isnan(share):
        return "an unknown share"
    if round(100 * share) == 0:
        return "less than 1 %" if share > 0 else "nothing"
    return f"{100 * share:.0f} %" if share > 0 else f"nothing (it grows by {-100 * share:.0f} %)"


def make_figures(numbers: Mapping[str, Any]) -> list[CaptionedFigure]:
    """Norms by lag before training and after, growth by radius, clipping."""
    return [
        CaptionedFigure(
            "lags",
            "The norm of the gradient of the last step’s loss at each earlier state, before any training: median over "
            "seeds, the band from quartile to quartile, one panel per cell. A straight falling line is a product of "
            "Jacobians; where it levels off, attention’s direct connection dominates.",
            draw_curves(_lag_panels(numbers["before"])),
        ),
        CaptionedFigure(
            "trained",
            "The same after a short training to recall the first symbol of the line at its end. Where a curve rises to "
            "the right, the loss depends more on the first states than on later ones, as it should in a reader that "
            "has found the first symbol; the table says which have. A reader that is right has a small loss and small "
            "gradients altogether, so the shape counts, not the height.",
            draw_curves(_lag_panels(numbers["after"])),
        ),
        CaptionedFigure(
            "radius",
            "The factor by which a gradient grows with each step back, against the spectral radius of the recurrent "
            "matrix: median and quartiles. The linear recurrence should follow the radius; where tanh is below it, "
            "saturation limits the growth.",
            draw_curves([_radius_panel(numbers["radius"])]),
        ),
        CaptionedFigure(
            "clipping",
            "An RNN whose recurrent matrix starts too large, trained by gradient descent at the largest of the radii "
            "and of the learning rates: median over seeds and quartiles. Both have large gradients; clipping keeps "
            "their direction and not their length.",
            draw_curves(_clipping_panels(numbers["clipping"])),
        ),
    ]


def _lag_panels(table: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[Panel]:
    everything = [each for forms in table.values() for each in forms.values()]
    bottom = min(min(each["low"]) for each in everything)
    top = max(max(each["high"]) for each in everything)
    return [
        Panel(
            [
                Curve(form, list(range(len(each["median"]))), each["median"], each["low"], each["high"])
                for form, each in forms.items()
            ],
            "lag T − t, steps",
            "norm of ∂ loss(T) / ∂ h(t)",
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
    marks = [Mark(1.0, "constant", "y"), Mark(1.0, "radius 1")]
    return Panel(curves, "spectral radius of the recurrent matrix", "growth per step, factor", marks=marks)


def _clipping_panels(clipping: Sequence[Mapping[str, Any]]) -> list[Panel]:
    trial = clipping[-1]
    panels = []
    for title, part, clipped in (
        (f"Loss, radius {trial['radius']}, learning rate {trial['learning_rate']}", "losses", False),
        ("Gradient, before clipping", "norms", False),
        ("Gradient, as used", "norms", True),
    ):
        curves = []
        for side, label in {"with": "with clipping", "without": "without"}.items():
            clip = trial[side]["clip"]
            rows = _pad_rows(trial[side][part])
            if clipped and clip:
                rows = [[min(norm, clip) for norm in row] for row in rows]
            quartiles = Quartiles.of(rows)
            updates = list(range(1, len(quartiles.median) + 1))
            curves.append(Curve(label, updates, quartiles.median, quartiles.low, quartiles.high))
        unit = "loss, nats" if part == "losses" else "norm"
        scale = "linear" if part == "losses" else "log"
        panels.append(Panel(curves, "update", unit, title=title, y_scale=scale))
    return panels


def _pad_rows(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """Rows of one length: those that diverged are filled up with nan."""
    longest = max(len(row) for row in rows)
    return [[*row, *[float("nan")] * (longest - len(row))] for row in rows]


def make_tables(numbers: Mapping[str, Any]) -> list[Table]:
    """Decay of every reader, what was recalled, and clipping at every learning rate."""
    rows = []
    for cell, forms in numbers["before"].items():
        for form, each in forms.items():
            after = numbers["after"][cell].get(form)
            rows.append([f"{cell}, {form}", *_gradient_cells(each), *_recall_cells(after)])
    rows += [
        [name, *_gradient_cells(each), *_recall_cells(None)] for name, each in numbers["further"].items()
    ]
    losses = [
        [f"{trial['radius']}", f"{trial['learning_rate']}"]
        + [f"{median(trial[side]['end']):.2f}" for side in ("with", "without")]
        for trial in numbers["clipping"]
    ]
    return [
        Table(
            "Gradients before training, and results of training. Growth: the factor per step over the longer half of "
            "the lags. Left: the norm at the first word over that at the last.",
            ["reader", "growth per step", "left", "recalled", "growth, trained"],
            rows,
        ),
        Table(
            "Final loss in nats, median over seeds, by the initial radius and the learning rate of gradient descent.",
            ["radius", "learning rate", "with clipping", "without"],
            losses,
        ),
    ]


def _gradient_cells(each: Mapping[str, Any]) -> list[str]:
    return [f"{each['growth']:.3f}", f"{remaining(each['median']):.1e}"]


def _recall_cells(after: Mapping[str, Any] | None) -> list[str]:
    if after is None:
        return ["–", "–"]
    shares = [f"{100 * each:.0f} %" for each in after["accuracy"]]
    return [" · ".join(shares), f"{after['growth']:.3f}"]


def write_remarks(numbers: Mapping[str, Any]) -> list[str]:
    """Possible reasons for what was measured."""
    radius = numbers["radius"]
    tanh = crossing(radius["radii"], radius["tanh"]["median"], 1.0)
    where = f"only at a radius of {tanh:.1f}" if tanh == tanh else "at none of these radii"
    return [
        "Gates need not help by being there. At the toolkit’s initial weights a GRU’s update gate is half open and "
        "replaces half of the state at every step; the plain RNN starts with an orthogonal recurrent matrix, which "
        "loses only what tanh takes. The LSTM starts with its forget gates open on purpose. What gates add is that "
        "they can learn to keep; in so short a training none of the plain readers need have learned it.",
        "Attention does not repair the path through the recurrence; it adds one of a single step beside it, weighted "
        "by α, about 1/T before training. Where the gradient has come down to that, it should stay. Self-attention has "
        f"only such paths. Relative to halfway back {_relative_to_middle(numbers['before'])}. The first states are on "
        "every later tape, so that a bend upwards there is not an explosion.",
        "The papers attend to the past of an RNN and of an LSTM. For the GRU there is no such cell; here what it read "
        "replaces its previous state, as in the other two.",
        "Explosion needs units that are not saturated. With tanh every step is multiplied by 1 − h² as well, and the "
        f"gradient begins to grow {where}; a first trial of this sweep ended at 1.5 and saw no growth.",
        "Clipping is insurance against a learning rate too high for the largest gradients, and costs every large "
        "gradient some of its length: the table shows where it pays and where it does not. A loss of ln 8 ≈ 2.08 nats "
        "is guessing.",
    ]


def _relative_to_middle(before: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """With self-attention: the gradient at lag 1 and at the first word, in units of that halfway back."""
    texts = []
    for cell, forms in before.items():
        norms = forms[OWN_PAST]["median"]
        middle = norms[len(norms) // 2]
        near, far = norms[1] / middle, norms[-1] / middle
        texts.append(
            f"the {cell}’s is {near:.2g} times as large at lag 1 and {far:.2g} times at the first word"
        )
    return "; ".join(texts)


EXPERIMENT = Experiment(
    name="gradients",
    title="How far back a gradient reaches",
    claim="Derivatives through many steps tend to be very small or very large: the longer the path, the smaller the "
    "gradient signal. Gates (LSTM, GRU) and attention’s direct connection help.",
    source="“Sequence to Sequence Model and Attention”: “Vanishing Gradient in RNNs”, “Attention Mechanism”; "
    "“Attention” (lecture 4): “Exploding or Vanishing Product of Jacobians”, “LSTM, Gated RNN”",
    method="A reader of random symbols has its loss at the last step only; ∂loss/∂h_t is taken through every path "
    "that uses h_t, for an RNN, a GRU and an LSTM, each plain, with an additive attention from the last state to all "
    "states, and with attention to their own past, at the toolkit’s own initial weights and several seeds. Plain "
    "readers and those with attention are then trained to recall the first symbol, at the better of two learning rates "
    "each. A Gaussian recurrent matrix is scaled to spectral radii from 0.5 to 2.5; networks that start with 1.5 and "
    "2.5 are trained by gradient descent, with clipping and without.",
    decides=f"Vanishing means that over the whole path {BOUNDS['vanished']:g} order of magnitude is lost, exploding "
    "that it grows "
    "tenfold over as many steps T, a factor of 10^(1/T) each. Gates help when a gradient decays or grows at most "
    f"{BOUNDS['gated']:g} times as fast as the RNN’s, by the slope of the logarithm over the longer half of the lags, "
    "as "
    "if half of the steps were gone: at the initial weights, and after training, where a cell counts only if it has "
    f"learned to recall the first symbol at least {BOUNDS['learned']:.0f} % of the time. Attention helps when "
    f"{BOUNDS['direct']:g} order of magnitude more is left at the first word as without it, in every cell: as much as "
    "vanishing "
    "takes. Growth towards the first states, which are on every tape, does not count as explosion. The purpose of all "
    f"this is learning at a distance: {BOUNDS['recall_gain']:.0f} points more of recall, averaged over the cells. "
    "That a "
    f"linear recurrence changes from decay to growth within {BOUNDS['radius']:g} of radius 1 is a control. Clipping is "
    "shown and decides nothing.",
    measure=measure,
    usual=REGISTERED.usual,
    full=REGISTERED.full,
    registration=REGISTERED,
    seconds=90,
)
