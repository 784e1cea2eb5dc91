"""Experiments that take no time and trainings of three updates, in a module that spawned processes can import."""

import os
import signal
import time

from regard.datasets import Sentiment
from regard.errors import DataError
from regard.lab.runner import Bench, CaptionedFigure, Check, Experiment, Finding, Table, Verdict
from regard.plots.figures.curves import Curve, Panel, draw_curves
from regard.tasks.classify.predictor import Classifier

TINY = {"embedding_size": 6, "state_size": 6}


def measure(bench: Bench, sizes: str) -> Finding:
    """Record start and end, report a message, and plot a line."""
    started = time.time()
    bench.report(f"plotting in {bench.folder.name}")
    figure = draw_curves([Panel([Curve("line", [0, 1], [0, 1])], "x", "y")])
    time.sleep(0.1)
    return Finding(
        {
            "started": started,
            "ended": time.time(),
            "jobs": bench.jobs,
            "seed": bench.seed,
            "full": bench.full,
            "sizes": sizes,
        },
        Verdict([Check("it", 1.0, "at least", 0.0)], "It is 1."),
        [CaptionedFigure("line", "A line.", figure)],
        [Table("One cell", ["column"], [["cell"]])],
    )


def lack_data(bench: Bench, sizes: str) -> Finding:
    """Fail with an error the user can correct."""
    raise DataError("no sentences here: give it some")


def divide(bench: Bench, sizes: str) -> Finding:
    """Fail by a bug."""
    return Finding({"never": 1 / 0}, Verdict([], ""))


def die(bench: Bench, sizes: str) -> Finding:
    """Kill the process, as a lack of memory would."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still here")


def fail_or_wait(bench: Bench, number: int) -> int:
    """Fail at once for 0; else run for a minute."""
    if number == 0:
        raise DataError("no data here")
    time.sleep(60)
    return number


def kill_worker(bench: Bench, number: int) -> int:
    """Kill the process for 0."""
    if number == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def experiment(name: str, measure=measure, seconds: int = 1, alone: bool = False) -> Experiment:
    """An experiment with short texts."""
    return Experiment(
        name,
        title=f"On {name}",
        claim=f"{name} holds.",
        source="Lecture 0",
        method="Plotted.",
        decides="One number.",
        measure=measure,
        usual="usual",
        full="full",
        seconds=seconds,
        alone=alone,
    )


def train_and_classify(bench: Bench, name: str, seed: int) -> tuple[str, int, list[float]]:
    """Train a classifier for three updates; return its probabilities for some lines."""
    splits = Sentiment().splits(train=24, valid=6, test=4, seed=1)
    config = {
        "preset": "classifier",
        "model": {"encoder": TINY, "pooling_size": 6},
        "training": {"max_updates": 3, "batch_sentences": 8},
    }
    folder = bench.train(name, config, splits.train, splits.valid, seed=seed)
    classified = Classifier.load(folder, weights="last").classify([each.source for each in splits.test])
    return name, bench.jobs, [share for each in classified for share in each.probabilities.values()]
