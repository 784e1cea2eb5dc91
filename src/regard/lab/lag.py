"""Long-term dependencies are hard for an RNN, and gates help: what each cell learns to recall over which lag.

A line of random symbols is read, and its first symbol is to be named at the end. For each lag, a SimpleRNN, a GRU and
an LSTM of equal state are trained on lines of that lag alone, each at the best of the same learning rates. What
decides: the lead of each gated cell at the longer lags, provided that all have learned the shortest.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from regard.config import Config
from regard.lab.measures.gradients import (
    LastStepReader,
    Quartiles,
    accuracy,
    remaining,
    sample_lines,
    stream_lines,
    train_reader,
)
from regard.lab.measures.statistics import Spread, spread_curve
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

NAMES = {"SimpleRNN": "rnn", "GRU": "gru", "LSTM": "lstm"}
PLAIN, GATED = "SimpleRNN", ("GRU", "LSTM")


@dataclass(frozen=True)
class LagSizes(Config):
    """The size of the experiment.

    Attributes:
        seeds: trainings of each cell at each lag.
        updates: of each training.
        lags: steps from the symbol to the end, ascending.
        state: units of states and embeddings.
        symbols: different symbols, and answers to choose from.
        rows: lines in a batch.
        rates: Adam's learning rates; the one with the lowest final training loss counts, for every training.
        test: lines for each lag.
    """

    seeds: int
    updates: int
    lags: tuple[int, ...]
    state: int
    symbols: int
    rows: int
    rates: tuple[float, ...]
    test: int


REGISTERED = read_registration(__file__, LagSizes.from_mapping)


def measure(bench: Bench, sizes: LagSizes) -> Finding:
    """Train every cell at every lag with every seed."""
    seeds = bench.seeds(sizes.seeds)
    arguments = [(name, lag, seed, sizes) for name in NAMES for lag in sizes.lags for seed in seeds]
    measured = iter(bench.starmap(_train_and_test, arguments))
    numbers = {
        "sizes": asdict(sizes),
        "seeds": seeds,
        "cells": {name: {str(lag): [next(measured) for _ in seeds] for lag in sizes.lags} for name in NAMES},
    }
    return Finding(
        numbers, verdict(numbers), make_figures(numbers), make_tables(numbers), write_remarks(numbers)
    )


def _train_and_test(bench: Bench, name: str, lag: int, seed: int, sizes: LagSizes) -> dict[str, Any]:
    """Train one cell at one lag; what the best of its learning rates recalls, and its gradient by lag."""
    bench.report(f"{name} at lag {lag}, seed {seed}")
    tried = []
    for learning_rate in sizes.rates:
        reader = LastStepReader(
            CELLS[NAMES[name]], sizes.symbols, sizes.symbols, sizes.state, attends=False, seed=seed
        )
        optimizer = torch.optim.Adam(reader.parameters(), lr=learning_rate)
        lines = stream_lines(seed, sizes.rows, lag + 1, sizes.symbols)
        curve = train_reader(reader, optimizer, lines, updates=sizes.updates, clip=1.0)
        tried.append((curve.final_loss, learning_rate, reader))
    loss, learning_rate, reader = min(tried, key=lambda each: each[0])
    generator = torch.Generator().manual_seed(1_000_000 + bench.seed)
    ids, answers = sample_lines(generator, sizes.test, lag + 1, sizes.symbols)
    return {
        "learning_rate": learning_rate,
        "loss": loss,
        "accuracy": 100 * accuracy(reader, ids, answers),
        "gradient": reader.gradient_norms(ids[: sizes.rows], answers[: sizes.rows]),
    }


def recalled(numbers: Mapping[str, Any], name: str, lag: int) -> Spread:
    """Percent right of a cell at a lag, one number per seed."""
    return Spread.of(model["accuracy"] for model in numbers["cells"][name][str(lag)])


def longer_third(numbers: Mapping[str, Any]) -> list[int]:
    """The lags that decide."""
    lags: list[int] = list(numbers["sizes"]["lags"])
    return lags[-max(1, len(lags) // 3) :]


def recalled_far(numbers: Mapping[str, Any], name: str) -> Spread:
    """The mean over the longer third of the lags, one number per seed."""
    return Spread.of(np.mean([recalled(numbers, name, lag).values for lag in longer_third(numbers)], axis=0))


def verdict(numbers: Mapping[str, Any]) -> Verdict:
    """The leads of the gated cells at the longer lags; see `EXPERIMENT.decides`."""
    bounds, lags = REGISTERED.bounds, numbers["sizes"]["lags"]
    shortest = [recalled(numbers, name, lags[0]).values for name in NAMES]
    learned = Check.over_seeds(
        f"first symbol recalled at lag {lags[0]}, the worst cell",
        np.min(shortest, axis=0),
        "at least",
        bounds["learned"],
        " %",
    )
    far = {name: recalled_far(numbers, name) for name in NAMES}
    checks = [
        Check.over_seeds(
            f"{name} ahead of {PLAIN} at the longer lags",
            np.subtract(far[name].values, far[PLAIN].values),
            "at least",
            bounds["lead"],
            " points",
            given=learned,
        )
        for name in GATED
    ]
    shares = ", ".join(f"the {name} in {each.mean:.0f} ± {each.half:.0f} %" for name, each in far.items())
    return Verdict(
        checks,
        f"At lags of {longer_third(numbers)[0]} to {lags[-1]} steps the first symbol is recalled by {shares} of lines "
        f"(mean and 90 % interval over {len(numbers['seeds'])} seeds); a guess is right in "
        f"{100 / numbers['sizes']['symbols']:.0f} %.",
    )


def make_figures(numbers: Mapping[str, Any]) -> list[CaptionedFigure]:
    """Accuracy by lag; and the gradient by lag of the cells that were trained at the longest."""
    lags = numbers["sizes"]["lags"]
    accuracies = [spread_curve(name, lags, [recalled(numbers, name, lag) for lag in lags]) for name in NAMES]
    gradients = []
    for name, by_lag in numbers["cells"].items():
        rows = [
            [norm / model["gradient"][0] for norm in model["gradient"]] for model in by_lag[str(lags[-1])]
        ]
        left = Quartiles.of(rows)
        gradients.append(Curve(name, list(range(len(left.median))), left.median, left.low, left.high))
    panels = [
        Panel(
            accuracies,
            "lag, steps (each trained by itself)",
            "recalled (%)",
            "after training",
            x_scale="log2",
            y_range=(0, 104),
            marks=[Mark(100 / numbers["sizes"]["symbols"], "guess", "y")],
        ),
        Panel(
            gradients,
            "lag T − t, steps",
            "norm of ∂ loss(T) / ∂ h(t), of that at T",
            f"its gradient, trained at lag {lags[-1]}",
            y_scale="log",
        ),
    ]
    caption = (
        "Left, how often the first symbol is recalled, against how many steps ago it was read; each point is a "
        f"training of its own, the mean over {len(numbers['seeds'])} seeds with its 90 % interval. Right, the gradient "
        "at each earlier state relative to that at the last, after training at the longest lag: median and quartiles. "
        "Where the left curve falls, ask the right one: did the gradient still reach the first symbol?"
    )
    return [CaptionedFigure("lags", caption, draw_curves(panels))]


def make_tables(numbers: Mapping[str, Any]) -> list[Table]:
    """Every cell and lag, one row each."""
    rows = []
    for name, by_lag in numbers["cells"].items():
        for lag, models in by_lag.items():
            spread = recalled(numbers, name, int(lag))
            left = np.median([remaining(model["gradient"]) for model in models])
            rates = " · ".join(f"{model['learning_rate']:g}" for model in models)
            rows.append([name, lag, f"{spread.mean:.0f} ± {spread.half:.0f}", f"{left:.1e}", rates])
    caption = (
        "Percent recalled, mean and 90 % interval; the gradient at the first symbol over that at the last, median over "
        "seeds; and the learning rate with the lower training loss, seed by seed."
    )
    return [Table(caption, ["cell", "lag", "recalled", "gradient left", "learning rates"], rows)]


def write_remarks(numbers: Mapping[str, Any]) -> list[str]:
    """What the initial weights and the choice of lines have to do with it."""
    return [
        "The toolkit's SimpleRNN starts with an orthogonal recurrent matrix and its LSTM with open forget gates, so "
        "that neither forgets at once. Its GRU starts with update gates half open, which replaces half of the state at "
        "every step: what remains of the first symbol after 20 steps is a millionth, and so is the gradient that "
        "would have to open them. Gates help where they start open enough to be trained.",
        "Each lag is trained by itself. In trials a SimpleRNN that was trained on lines of all lengths up to 100, the "
        "short ones among them, recalled a marked symbol at every one of them: what is difficult is to find the long "
        "dependency, not to keep the symbol.",
    ]


EXPERIMENT = Experiment(
    name="lag",
    title="Long-term dependencies",
    claim="“It would be difficult to train the RNNs due to the resulting long term dependencies. → LSTM”. The remedy "
    "is “LSTM, Gated RNN”, the GRU among them.",
    source="“seq2seq & attention”: “Limitation & Alternative”; “Attention” (lecture 4): “LSTM, Gated RNN”",
    method="Lines of random symbols out of 8; the first symbol of a line is to be named after its last. A SimpleRNN, a "
    "GRU and an LSTM with states of 32 units are trained on the same lines, for the same number of updates, with one "
    "training for each lag (2 to 60 steps), cell and seed, each at the better of the same two learning rates by its "
    "training loss. The gradient of the loss at every earlier state is measured after training.",
    decides="At the shortest lag every cell must have learned the task "
    f"({REGISTERED.bounds['learned']:.0f} % of lines), or lags decide nothing. Over the longer third of the lags, each "
    f"gated cell must then be at least {REGISTERED.bounds['lead']:.0f} points of accuracy ahead of the SimpleRNN on "
    "average: a difference that is not one of learning rates or seeds.",
    measure=measure,
    usual=REGISTERED.usual,
    full=REGISTERED.full,
    seconds=230,
    registration=REGISTERED,
)
