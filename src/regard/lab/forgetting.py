"""With self-attention an RNN is less likely to forget: recall against delay, with and without a tape of past states.

Four cells with states of equal size are trained on the same lines of the recall dataset (pairs of a key and a value,
then a key whose value is asked for) and then tested on the first pair of longer and longer lines. What decides: by how
many points each self-attentive cell is ahead of its plain counterpart at the longer delays, in the worst of the seeds.
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
from regard.datasets.memory import VALUES, recall_line
from regard.lab.measures.baselines import guess_accuracy
from regard.lab.measures.statistics import Spread
from regard.lab.runner import Bench, CaptionedFigure, Check, Experiment, Finding, Table, Verdict, train_for
from regard.plots.figures.curves import Curve, Mark, Panel, draw_curves
from regard.tasks.classify.predictor import Classifier

PLAIN_RNN, TAPED_RNN, PLAIN_LSTM, TAPED_LSTM = "SimpleRNN", "SimpleRNN + self-attention", "LSTM", "LSTMN"
COMPARED = ((PLAIN_RNN, TAPED_RNN), (PLAIN_LSTM, TAPED_LSTM))
LEAD = 10.0
"""Points of accuracy: the difference that counts."""
FEWEST = 2
"""Pairs in the shortest line: with a single pair there is no other value to confuse it with."""
_LEARNED = 80.0
"""Percent recalled, from which on a cell has learned the task."""
_VALID = 200


@dataclass(frozen=True)
class CellSettings:
    """A cell and how it is trained.

    Attributes:
        cell: its name in a configuration.
        learning_rate: the best of 0.002, 0.004 and 0.008 in trial runs of one seed, by accuracy at the training delays.
        energy: of a cell that attends to its past.
    """

    cell: str
    learning_rate: float
    energy: str = ""


CELLS = {
    PLAIN_RNN: CellSettings("rnn", 0.002),
    TAPED_RNN: CellSettings("rnn-sum", 0.002, "bilinear"),
    PLAIN_LSTM: CellSettings("lstm", 0.008),
    TAPED_LSTM: CellSettings("lstmn", 0.008, "bilinear"),
}


@dataclass(frozen=True)
class ForgettingSizes:
    """The size of the experiment.

    Attributes:
        seeds: trainings of each cell.
        updates: of each training.
        test: lines for each delay.
        most: pairs in the longest training line, so that delays up to one fewer are trained.
        farthest: pairs in the longest test line.
        state: units of every cell.
        embedding: units of a symbol's embedding.
        batch: lines in a batch.
    """

    seeds: int
    updates: int
    test: int
    most: int = 4
    farthest: int = 8
    state: int = 64
    embedding: int = 48
    batch: int = 64


USUAL = ForgettingSizes(seeds=2, updates=3000, test=500)
FULL = ForgettingSizes(seeds=5, updates=8000, test=1000)


def measure(bench: Bench, sizes: ForgettingSizes) -> Finding:
    """Train every cell with every seed, and ask each for the first pair of longer and longer lines."""
    seeds = bench.seeds(sizes.seeds)
    measured = iter(bench.starmap(_train_and_test, [(name, seed, sizes) for name in CELLS for seed in seeds]))
    by_cell = {name: [next(measured) for _ in seeds] for name in CELLS}
    accuracy = {
        name: [Spread.of(at_delay) for at_delay in zip(*(model["accuracy"] for model in models), strict=True)]
        for name, models in by_cell.items()
    }
    delays = list(range(sizes.farthest))
    numbers = {
        "sizes": asdict(sizes),
        "seeds": seeds,
        "cells": {name: asdict(cell) for name, cell in CELLS.items()},
        "parameters": {name: models[0]["parameters"] for name, models in by_cell.items()},
        "delays": delays,
        "accuracy": {name: [spread.to_json() for spread in spreads] for name, spreads in accuracy.items()},
        "guess": [guess_accuracy(max(delay + 1, FEWEST)) for delay in delays],
        "guess among all": 100 / len(VALUES),
    }
    return Finding(
        numbers,
        verdict(accuracy, sizes.most),
        make_figures(numbers),
        make_tables(numbers),
        write_remarks(numbers),
    )


def _train_and_test(bench: Bench, name: str, seed: int, sizes: ForgettingSizes) -> dict[str, Any]:
    """The accuracy of one cell in percent at each delay, and its number of parameters."""
    train, valid = training_lines(sizes, seed)
    folder = bench.train(f"{CELLS[name].cell}-{seed}", _config(name, sizes), train, valid, seed=seed)
    classifier = Classifier.load(folder)
    accuracy = []
    for delay in range(sizes.farthest):
        bench.report(f"testing {name} after {delay} later pairs")
        lines = delayed_lines(delay, sizes.test, bench.seed)
        answers = classifier.classify([line.source for line in lines], batch_sentences=100)
        correct = sum(answer.label == line.target for answer, line in zip(answers, lines, strict=True))
        accuracy.append(100 * correct / len(lines))
    return {"accuracy": accuracy, "parameters": classifier.model.num_parameters}


def training_lines(sizes: ForgettingSizes, seed: int) -> tuple[list[Example], list[Example]]:
    """Lines of 2 to `most` pairs, any of which may be asked for: one epoch of training lines, and validation lines."""
    rng = random.Random(f"forgetting {seed}")
    lines = []
    for _ in range(sizes.updates * sizes.batch + _VALID):
        pairs = rng.randint(FEWEST, sizes.most)
        lines.append(recall_line(rng, pairs, rng.randrange(pairs)))
    return lines[_VALID:], lines[:_VALID]


def delayed_lines(delay: int, count: int, seed: int) -> list[Example]:
    """The same for all trainings of a bench: `delay` pairs come later than the one asked for."""
    rng = random.Random(f"forgetting {seed}, asked after {delay}")
    return [recall_line(rng, max(delay + 1, FEWEST), delay) for _ in range(count)]


def _config(name: str, sizes: ForgettingSizes) -> dict[str, Any]:
    """The run of one cell; everything but the cell, its energy and its learning rate is the same for all."""
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
        "training": train_for(
            sizes.updates,
            learning_rate=cell.learning_rate,
            schedule="cosine",
            warmup=100,
            clip=1.0,
            batch_sentences=sizes.batch,
        ),
    }


def verdict(accuracy: Mapping[str, Sequence[Spread]], most: int) -> Verdict:
    """The leads of the self-attentive cells, in the seed where each is smallest, against the bound.

    Args:
        accuracy: in percent over the seeds, by cell, at delays 0, 1, …
        most: pairs in the longest training line.
    """
    longer, beyond = slice(most // 2, most), slice(most, None)
    checks, recalled = [], []
    for plain, taped in COMPARED:
        for which, delays in (("of training", longer), ("beyond training", beyond)):
            leads = _by_seed(accuracy[taped][delays]) - _by_seed(accuracy[plain][delays])  # (seeds,)
            what = f"{taped} ahead of {plain} at the longer delays {which}, least over seeds"
            checks.append(Check(what, float(np.min(leads)), "at least", LEAD, " points"))
        recalled.append(
            f"after {most // 2} to {most - 1} later pairs {taped} still recalls "
            f"{_by_seed(accuracy[taped][longer]).mean():.0f} % of the values, {plain} "
            f"{_by_seed(accuracy[plain][longer]).mean():.0f} %"
        )
    text, seeds = "; ".join(recalled), len(accuracy[PLAIN_RNN][0].values)
    return Verdict(
        checks, f"{text[0].upper()}{text[1:]} (means over {seeds} seed{'s' if seeds > 1 else ''})."
    )


def _by_seed(spreads: Sequence[Spread]) -> NDArray[np.float64]:
    """The mean over delays for each seed, (seeds,)."""
    means: NDArray[np.float64] = np.mean([spread.values for spread in spreads], axis=0)
    return means


def make_figures(numbers: Mapping[str, Any]) -> list[CaptionedFigure]:
    """Accuracy against delay: a curve for each cell, and one for the best guess without keys."""
    delays, sizes = numbers["delays"], numbers["sizes"]
    curves = []
    for name, spreads in numbers["accuracy"].items():
        low = [max(each["mean"] - each["deviation"], 0.0) for each in spreads]
        high = [min(each["mean"] + each["deviation"], 100.0) for each in spreads]
        curves.append(Curve(name, delays, [each["mean"] for each in spreads], low, high))
    curves.append(Curve("the line’s most frequent value", delays, numbers["guess"]))
    panel = Panel(
        curves,
        x_label="delay (later pairs between the pair asked for and the question)",
        y_label="values recalled (%)",
        y_range=(0, 112),
        marks=[
            Mark(numbers["guess among all"], "guess among all values", axis="y"),
            Mark(sizes["most"] - 0.5, "longer than in training", axis="x"),
        ],
    )
    caption = (
        f"How often a value is recalled, against the number of pairs after its own; {sizes['test']:,} lines per delay, "
        f"mean of {sizes['seeds']} trainings and one standard deviation to either side. A cell forgets where its curve "
        "falls towards the most frequent value of the line, the best guess without keys."
    )
    return [CaptionedFigure("delays", caption, draw_curves([panel]))]


def make_tables(numbers: Mapping[str, Any]) -> list[Table]:
    """A row for each cell: its size, and its accuracy at delay 0, at the longest in training and at the longest."""
    sizes = numbers["sizes"]
    questions = sizes["test"] * sizes["seeds"]
    delays = [0, sizes["most"] - 1, sizes["farthest"] - 1]

    def with_error(percent: float) -> str:
        return f"{percent:.1f} ± {math.sqrt(percent * (100 - percent) / questions):.1f}"

    rows = [
        [
            name,
            str(sizes["state"]),
            f"{numbers['parameters'][name]:,}",
            f"{numbers['cells'][name]['learning_rate']:g}",
            *(with_error(spreads[delay]["mean"]) for delay in delays),
        ]
        for name, spreads in numbers["accuracy"].items()
    ]
    columns = ["cell", "state", "parameters", "learning rate", *(f"delay {delay}" for delay in delays)]
    return [
        Table(
            f"Values recalled (%), with the binomial standard error of {questions:,} questions.",
            columns,
            rows,
        )
    ]


def write_remarks(numbers: Mapping[str, Any]) -> list[str]:
    """Which cells did not forget but never learned, and what it costs to keep the past."""
    most = numbers["sizes"]["most"]
    last, longer = most - 1, slice(most // 2, most)
    means = {name: [each["mean"] for each in spreads] for name, spreads in numbers["accuracy"].items()}
    guess = numbers["guess"][last]
    stuck = [name for name in means if means[name][last] < guess + LEAD]
    remarks = []
    if stuck:
        remarks.append(
            f"After {last} later pairs the most frequent value of the line, which needs no key, is right "
            f"{guess:.0f} % of the time. Not {LEAD:.0f} points above that: {', '.join(stuck)}. Such a cell may keep "
            "some of the values but not which key each belonged to; then it has not learned in so short a training to "
            "bind the two, which is more than forgetting one of them. A longer training may help it (--full)."
        )
    lstm, lstmn = (fmean(means[name][longer]) for name in (PLAIN_LSTM, TAPED_LSTM))
    if lstmn - lstm < LEAD and lstmn < _LEARNED:
        remarks.append(
            "Why the LSTMN may learn this slowly: its only path from one step to the next is its attention. To bind a "
            "value to its key it must first learn to attend to the slot just written, and nothing in the value says "
            "which key that was. In the SimpleRNN’s form h_t is compared with all states up to itself and mostly "
            "finds itself, so the last state is carried along from the start."
        )
    remarks.append(
        "What is compared is memory in a state of fixed size with memory in a tape: a self-attentive cell of the same "
        "state keeps all its past states and attends to them at each word, so it pays for what it does not forget with "
        "memory and time that grow with the line (see cost)."
    )
    return remarks


EXPERIMENT = Experiment(
    name="forgetting",
    title="Who forgets",
    claim="With self-attention an RNN is less likely to forget.",
    source=(
        "Shusen Wang: the summaries of “Self-Attention” (after SimpleRNN + self-attention) and of “Seq2Seq Model with "
        "Attention” (after the LSTM's); the SimpleRNN's form in the latter, which reads before its update, is not "
        "tested here"
    ),
    method=(
        "SimpleRNN, SimpleRNN + self-attention (h_t = tanh(A [x_t; c_{t−1}] + b), c_t = Σ α_i h_i), LSTM and LSTMN, "
        "all with states of equal size, are trained on lines of two to four pairs of a key and a value, at the end of "
        "which one key is asked for: “k7 v3 k2 v9 ? k7” → “v3”. All get the same lines and updates, each the best of "
        "three learning rates in trial runs of one seed, and answer from their last state alone. Then the first pair "
        "of lines of up to eight pairs is asked for, so that up to seven came later; for no later pair, the second of "
        "two."
    ),
    decides=(
        f"Each self-attentive cell must be at least {LEAD:.0f} points of accuracy ahead of the plain cell it extends, "
        "once on average over the longer half of the training delays, once over those longer than any in training, and "
        "that in every seed; ten points are a difference a user would notice."
    ),
    measure=measure,
    usual=USUAL,
    full=FULL,
    seconds=220,
)
