"""An ablation of the optimizations: the same training with one of them disabled, interleaved with full runs.

In: a setting. Out: a `Section` with every variant's speed relative to the full runs next to it. The losses beside it
show that only the time changes.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

from benchmarks import training
from benchmarks.interleave import REGARD, Measure, Trial, interleave, losses, ratios
from benchmarks.process import run_in_subprocess
from benchmarks.report import Section, Table
from benchmarks.settings import Setting
from benchmarks.training import TrainingResult
from regard.ops.native import native_off
from regard.ops.paths import naive_only

RECURRENCES = ("rnn", "lstm", "gru", "attending lstm", "attending gru", "input feeding lstm")

ABLATIONS: dict[str, Callable[[], Any]] = {
    "recurrences in C": partial(native_off, *RECURRENCES),
    "the loss in C": partial(native_off, "word loss"),
    "W x + b in C": partial(native_off, "affine"),
    "reuse of freed memory": lambda: patch("regard.training.fabric.keep_freed_memory", lambda: False),
    "all C kernels": native_off,
    "all fused paths": naive_only,
}
"""The optimization → a context manager that disables it."""


@contextmanager
def disabled(optimization: str) -> Iterator[None]:
    """Disable one optimization while the block runs."""
    with ABLATIONS[optimization]():
        yield


def train(setting: dict[str, Any], decoder: str, optimization: str) -> dict[str, Any]:
    """Train in this process with an optimization disabled; `measure` calls this in a subprocess."""
    with disabled(optimization):
        return training.train(setting, decoder, "32")


def measure(setting: Setting, decoder: str, optimization: str, *, threads: int) -> TrainingResult:
    """Train in a subprocess with an optimization disabled."""
    arguments = {"setting": setting.to_json(), "decoder": decoder, "optimization": optimization}
    result = run_in_subprocess("benchmarks.ablation:train", arguments, threads=threads)
    return TrainingResult(**result, warmup=setting.warmup)


def compare(
    setting: Setting, decoder: str, *, rounds: int, threads: int, log: Callable[[str], None]
) -> list[Trial]:
    """Train with all optimizations and, interleaved, with each of them disabled."""
    full = partial(training.measure, setting, decoder, threads=threads)
    variants: dict[str, Measure] = {
        optimization: partial(measure, setting, decoder, optimization, threads=threads)
        for optimization in ABLATIONS
    }
    return interleave(full, variants, rounds, lambda name: log(f"{setting.name}, {decoder}, without: {name}"))


def ablation_section(trials: Mapping[str, list[Trial]]) -> Section:
    """A table for each model.

    Args:
        trials: by ``setting, decoder``.
    """
    tables = []
    for model, runs in trials.items():
        ratio, loss = ratios(runs), losses(runs)
        rows = [[f"without {name}", ratio[name].format(".2f"), loss[name].format(".4f")] for name in ratio]
        rows.append(["with all", "1", loss[REGARD].format(".4f")])
        tables.append(Table(f"{model}.", ["", f"× {REGARD}", "loss"], rows))
    return Section(
        "ablation",
        "What each optimization gains",
        [
            "The same training, float32, with one optimization disabled: its speed divided by the mean speed of the "
            "two full runs next to it. “Without all C kernels” is what runs on a machine without a compiler; “without "
            "all fused paths” is the naive path, every equation as the paper prints it."
        ],
        tables,
        numbers={model: [trial.to_json() for trial in runs] for model, runs in trials.items()},
    )
