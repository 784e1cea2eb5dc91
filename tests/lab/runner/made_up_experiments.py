"""Experiments of no time and trainings of three updates, which spawned processes import."""

import os
import signal
import time

from regard.datasets import Sentiment
from regard.errors import DataError
from regard.lab.runner import Bench, Check, Drawing, Experiment, Finding, Grid, Verdict
from regard.plots.figures.curves import Curve, Panel, draw_curves
from regard.tasks.classify.predictor import Classifier

TINY = {"embedding_size": 6, "state_size": 6}


def find(bench: Bench) -> Finding:
    """Write when it began and ended, say something, and find a line."""
    started = time.time()
    bench.voice(f"drawing in {bench.folder.name}")
    figure = draw_curves([Panel([Curve("line", [0, 1], [0, 1])], "x", "y")])
    time.sleep(0.1)
    return Finding(
        {
            "started": started,
            "ended": time.time(),
            "jobs": bench.jobs,
            "seed": bench.seed,
            "full": bench.full,
        },
        Verdict([Check("it", 1.0, "at least", 0.0)], "It is 1."),
        [Drawing("line", "A line.", figure)],
        [Grid("One cell", ["column"], [["cell"]])],
    )


def lack_data(bench: Bench) -> Finding:
    """Fail as a user can mend."""
    raise DataError("no sentences here: give it some")


def divide(bench: Bench) -> Finding:
    """Fail by a fault."""
    return Finding({"never": 1 / 0}, Verdict([], ""))


def die(bench: Bench) -> Finding:
    """End the process as a lack of memory would."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still here")


def fail_or_linger(bench: Bench, arm: int) -> int:
    """Fail at once for 0; else be busy for longer than anybody waits."""
    if arm == 0:
        raise DataError("nothing to be had")
    time.sleep(60)
    return arm


def perish(bench: Bench, arm: int) -> int:
    """End the process for 0."""
    if arm == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return arm


def experiment(name: str, run=find, seconds: int = 1, alone: bool = False) -> Experiment:
    """An experiment of little to say."""
    return Experiment(
        name,
        title=f"On {name}",
        claim=f"{name} holds.",
        source="Lecture 0",
        method="Drawn.",
        decides="One number.",
        run=run,
        seconds=seconds,
        alone=alone,
    )


def train_and_read(bench: Bench, arm: tuple[str, int]) -> tuple[str, int, list[float]]:
    """Train a classifier for three updates; its probabilities for some lines, to the last bit."""
    name, seed = arm
    splits = Sentiment().splits(train=24, valid=6, test=4, seed=1)
    config = {
        "preset": "classifier",
        "model": {"encoder": TINY, "pooling_size": 6},
        "training": {"max_updates": 3, "batch_sentences": 8},
    }
    folder = bench.train(name, config, splits.train, splits.valid, seed=seed)
    read = Classifier.load(folder, weights="last").classify([each.source for each in splits.test])
    return name, bench.jobs, [share for each in read for share in each.probabilities.values()]
