"""The figure, the table and the remarks of the experiment on forgetting.

In: its numbers. Out: a drawing with its caption, a table, remarks. Nothing is measured here.

With self-attention an RNN is less likely to forget: recall against delay, with and without a tape of past states.

Four cells of equal state learn from the same lines of the world of recall (pairs of a key and a value, then a key
whose value is asked for) and are then asked for the first pair of longer and longer lines. Decides: by how many
points each self-attentive cell is ahead of its plain counterpart at the longer delays, in the worst of the seeds.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.datasets import Example
from regard.datasets.recall import VALUES, recall_line
from regard.lab.measures.passage import guess
from regard.lab.measures.statistics import Spread
from regard.lab.runner import Bench, Check, Drawing, Experiment, Finding, Grid, Verdict
from regard.plots.figures.curves import Curve, Mark, Panel, draw_curves
from regard.tasks.classify.predictor import Classifier

_LEARNT = 80.0
"""Percent recalled: who has as much has learnt the task, and nothing is to be explained."""


def draw_forgetting(numbers: Mapping[str, Any]) -> list[Drawing]:
    """Accuracy against delay: a curve for each cell, and one for the best guess without keys."""
    delays, sizes = numbers["delays"], numbers["sizes"]
    curves = []
    for name, spreads in numbers["accuracy"].items():
        low = [max(each["mean"] - each["deviation"], 0.0) for each in spreads]
        high = [min(each["mean"] + each["deviation"], 100.0) for each in spreads]
        curves.append(Curve(name, delays, [each["mean"] for each in spreads], low, high))
    curves.append(Curve("the line’s commonest value", delays, numbers["guess"]))
    panel = Panel(
        curves,
        x_label="delay (later pairs between the pair asked for and the question)",
        y_label="values recalled (%)",
        y_range=(0, 112),
        marks=[
            Mark(numbers["guess among all"], "guess among all values", axis="y"),
            Mark(sizes["most"] - 0.5, "longer than learnt", axis="x"),
        ],
    )
    caption = (
        f"How often a value is recalled, against how many pairs came after its own; {sizes['test']:,} lines a delay, "
        f"mean of {sizes['seeds']} trainings and one standard deviation either way. A cell forgets where its curve "
        "falls towards what the commonest value of the line gives, the best guess without keys."
    )
    return [Drawing("delays", caption, draw_curves([panel]))]


def tabulate_forgetting(numbers: Mapping[str, Any]) -> list[Grid]:
    """A row for each cell: what it is made of, and what it recalls after no, the most learnt and the most pairs."""
    sizes = numbers["sizes"]
    asked = sizes["test"] * sizes["seeds"]
    shown = [0, sizes["most"] - 1, sizes["farthest"] - 1]

    def written(percent: float) -> str:
        return f"{percent:.1f} ± {math.sqrt(percent * (100 - percent) / asked):.1f}"

    grid = Grid(
        f"Values recalled (%), with the binomial standard error of {asked:,} questions.",
        ["cell", "state", "parameters", "learning_rate", *(f"delay {delay}" for delay in shown)],
        [
            [
                name,
                str(sizes["state"]),
                f"{numbers['parameters'][name]:,}",
                f"{numbers['cells'][name]['rate']:g}",
                *(written(spreads[delay]["mean"]) for delay in shown),
            ]
            for name, spreads in numbers["accuracy"].items()
        ],
    )
    return [grid]


def remark_forgetting(numbers: Mapping[str, Any], lead: float) -> list[str]:
    """What else the numbers say: who did not forget but never learnt, and at what price the past is kept.

    Args:
        numbers: of the experiment.
        lead: points of accuracy, the difference that counts.
    """
    most = numbers["sizes"]["most"]
    last, longer = most - 1, slice(most // 2, most)
    means = {name: [each["mean"] for each in spreads] for name, spreads in numbers["accuracy"].items()}
    guess = numbers["guess"][last]
    stuck = [name for name in means if means[name][last] < guess + lead]
    remarks = []
    if stuck:
        remarks.append(
            f"After {last} later pairs the commonest value of the line, which takes no key to say, is right "
            f"{guess:.0f} % of the time. Not {lead:.0f} points above that: {', '.join(stuck)}. Such a cell may keep "
            "some of the values but not which key each belonged to; then it has not learnt in so short a training to "
            "bind the two, which is more than to forget one of them. A longer training may help it (--full)."
        )
    lstm, lstmn = (fmean(means[name][longer]) for name in ("LSTM", "LSTMN"))
    if lstmn - lstm < lead and lstmn < _LEARNT:
        remarks.append(
            "Why the LSTMN may learn this slowly: it has no road from one step to the next but through its attention. "
            "To bind a value to its key it must first learn to look at the slot just written, and nothing in the value "
            "says which key that was. In the SimpleRNN’s form h_t is compared with all states up to itself and mostly "
            "finds itself, so the last state comes along unasked."
        )
    remarks.append(
        "What is compared is memory by a state of fixed size against memory by a tape: a self-attentive cell of the "
        "same state keeps all its past states and looks through them at each word, so it pays for what it does not "
        "forget with room and time that grow with the line (see cost)."
    )
    return remarks


PLAIN_RNN, TAPED_RNN, PLAIN_LSTM, TAPED_LSTM = "SimpleRNN", "SimpleRNN + self-attention", "LSTM", "LSTMN"
COMPARED = ((PLAIN_RNN, TAPED_RNN), (PLAIN_LSTM, TAPED_LSTM))
LEAD = 10.0
"""Points of accuracy: the difference that counts."""
FEWEST = 2
"""Pairs in the shortest line: with one alone there is nothing to confuse its value with."""
_VALID = 200


@dataclass(frozen=True)
class Cell:
    """A cell and the rate it learns at."""

    cell: str
    """As a configuration names it."""
    learning_rate: float
    """Of 0.002, 0.004 and 0.008 the one that learnt most in trial runs of one seed, by accuracy at the delays learnt
    from."""
    energy: str = ""
    """How the past is compared with the present, for a cell that attends to it."""


CELLS = {
    PLAIN_RNN: Cell("rnn", 0.002),
    TAPED_RNN: Cell("rnn-sum", 0.002, "bilinear"),
    PLAIN_LSTM: Cell("lstm", 0.008),
    TAPED_LSTM: Cell("lstmn", 0.008, "bilinear"),
}


@dataclass(frozen=True)
class Sizes:
    """How much is done."""

    seeds: int
    """Trainings of each cell, from the bench's seed on."""
    updates: int
    """Of each training."""
    test: int
    """Lines for each delay."""
    most: int = 4
    """Pairs in the longest line learnt from, so delays up to one less are learnt."""
    farthest: int = 8
    """Pairs in the longest line tested with."""
    state: int = 64
    """Units of every cell."""
    embedding: int = 48
    """The width of a symbol's vector."""
    batch: int = 64
    """Lines in a batch."""


USUAL = Sizes(seeds=2, updates=3000, test=500)
FULL = Sizes(seeds=5, updates=8000, test=1000)


@dataclass(frozen=True)
class Arm:
    """One training."""

    name: str
    seed: int
    sizes: Sizes


def run(bench: Bench) -> Finding:
    """Do the experiment."""
    return find(bench, bench.choose(USUAL, FULL))


def find(bench: Bench, sizes: Sizes) -> Finding:
    """Train every cell with every seed, and ask each for the first pair of longer and longer lines."""
    seeds = bench.seeds(sizes.seeds)
    arms = [Arm(name, seed, sizes) for name in CELLS for seed in seeds]
    measured = bench.each(measure, arms)
    delays = list(range(sizes.farthest))
    accuracy: dict[str, list[Spread]] = {}
    for name in CELLS:
        own = [each["accuracy"] for arm, each in zip(arms, measured, strict=True) if arm.name == name]
        accuracy[name] = [Spread.of(at_delay) for at_delay in zip(*own, strict=True)]
    parameters = {arm.name: each["parameters"] for arm, each in zip(arms, measured, strict=True)}
    numbers = {
        "sizes": asdict(sizes),
        "seeds": seeds,
        "cells": {name: asdict(cell) for name, cell in CELLS.items()},
        "parameters": parameters,
        "delays": delays,
        "accuracy": {name: [each.to_json() for each in spreads] for name, spreads in accuracy.items()},
        "guess": [guess(max(delay + 1, FEWEST)) for delay in delays],
        "guess among all": 100 / len(VALUES),
    }
    return Finding(
        numbers=numbers,
        verdict=verdict(accuracy, sizes.most),
        drawings=draw_forgetting(numbers),
        grids=tabulate_forgetting(numbers),
        remarks=remark_forgetting(numbers, LEAD),
    )


def measure(bench: Bench, arm: Arm) -> dict[str, Any]:
    """Train a cell; its accuracy in percent at each delay, and its parameters."""
    sizes = arm.sizes
    train, valid = training_lines(sizes, arm.seed)
    folder = bench.train(
        f"{CELLS[arm.name].cell}-{arm.seed}", config(arm.name, sizes), train, valid, seed=arm.seed
    )
    classifier = Classifier.load(folder)
    accuracy = []
    for delay in range(sizes.farthest):
        bench.voice(f"asking {arm.name} after {delay} later pairs")
        asked = questions(delay, sizes.test, bench.seed)
        answers = classifier.classify([line.source for line in asked], batch_sentences=100)
        right = sum(answer.label == line.target for answer, line in zip(answers, asked, strict=True))
        accuracy.append(100 * right / len(asked))
    return {"accuracy": accuracy, "parameters": classifier.model.num_parameters}


def training_lines(sizes: Sizes, seed: int) -> tuple[list[Example], list[Example]]:
    """Lines of 2 to `most` pairs, of which each may be asked for: those of one pass, and some to validate with."""
    rng = random.Random(f"forgetting {seed}")
    lines = []
    for _ in range(sizes.updates * sizes.batch + _VALID):
        pairs = rng.randint(FEWEST, sizes.most)
        lines.append(recall_line(rng, pairs, rng.randrange(pairs)))
    return lines[_VALID:], lines[:_VALID]


def questions(delay: int, count: int, seed: int) -> list[Example]:
    """Test lines, the same for all trainings of a bench: so many pairs come later than the one asked for."""
    rng = random.Random(f"forgetting {seed}, asked after {delay}")
    return [recall_line(rng, max(delay + 1, FEWEST), delay) for _ in range(count)]


def config(name: str, sizes: Sizes) -> dict[str, Any]:
    """The run of one cell; all but the cell, its energy and its rate is the same for all."""
    cell = CELLS[name]
    encoder: dict[str, Any] = {
        "cell": cell.cell,
        "embedding_size": sizes.embedding,
        "state_size": sizes.state,
    }
    if cell.energy:
        encoder["memory"] = {"energy": cell.energy}
    return {
        "preset": "lstmn-classifier",
        "model": {"encoder": encoder, "pooling": "last", "hidden_size": 0, "dropout": 0.0},
        "training": {
            "learning_rate": cell.learning_rate,
            "schedule": "cosine",
            "warmup": 100,
            "clip": 1.0,
            "batch_sentences": sizes.batch,
            "max_epochs": 0,
            "max_updates": sizes.updates,
            "validate_every": sizes.updates,
        },
    }


def verdict(accuracy: Mapping[str, Sequence[Spread]], most: int) -> Verdict:
    """Hold the leads of the self-attentive cells against the bound, in the seed where each is least.

    Args:
        accuracy: in percent over the seeds, by cell, at delays 0, 1, …
        most: pairs in the longest line learnt from.
    """
    longer, beyond = slice(most // 2, most), slice(most, None)
    checks, seen = [], []
    for plain, taped in COMPARED:
        for where, delays in (("learnt", longer), ("never learnt", beyond)):
            leads = _by_seed(accuracy[taped][delays]) - _by_seed(accuracy[plain][delays])  # (seeds,)
            what = f"{taped} ahead of {plain} at the longer delays that were {where}, least over seeds"
            checks.append(Check(what, float(np.min(leads)), "at least", LEAD, " points"))
        seen.append(
            f"after {most // 2} to {most - 1} later pairs {taped} still finds "
            f"{_by_seed(accuracy[taped][longer]).mean():.0f} % of the values, {plain} "
            f"{_by_seed(accuracy[plain][longer]).mean():.0f} %"
        )
    text, seeds = "; ".join(seen), len(accuracy[PLAIN_RNN][0].values)
    return Verdict(
        checks, f"{text[0].upper()}{text[1:]} (means over {seeds} seed{'s' if seeds > 1 else ''})."
    )


def _by_seed(spreads: Sequence[Spread]) -> NDArray[np.float64]:
    """The mean over some delays, of each seed."""
    means: NDArray[np.float64] = np.mean([each.values for each in spreads], axis=0)  # (seeds,)
    return means


EXPERIMENT = Experiment(
    name="forgetting",
    title="Who forgets",
    claim="With self-attention an RNN is less likely to forget.",
    source=(
        "Shusen Wang: the summaries of “Self-Attention” (after SimpleRNN + self-attention) and of “Seq2Seq Model with "
        "Attention” (after the LSTM's); the SimpleRNN's form in the latter, which reads before its update, is not "
        "tried here"
    ),
    method=(
        "SimpleRNN, SimpleRNN + self-attention (h_t = tanh(A [x_t; c_{t−1}] + b), c_t = Σ α_i h_i), LSTM and LSTMN, "
        "all with states of equal size, learn from lines of two to four pairs of a key and a value, at the end of "
        "which one key is asked for: “k7 v3 k2 v9 ? k7” → “v3”. All get the same lines and updates, each the best of "
        "three learning rates in trial runs of one seed, and answer from their last state alone. Then the first pair "
        "of lines of up to eight pairs is asked for, so that as many as seven came later; for no later pair, the "
        "second of two."
    ),
    decides=(
        f"Each self-attentive cell must be at least {LEAD:.0f} points of accuracy ahead of the plain cell it extends, "
        "once on average over the longer half of the delays learnt, once over those longer than any learnt, and that "
        "in every seed; ten points are a difference a user would notice."
    ),
    run=run,
    seconds=220,
)
