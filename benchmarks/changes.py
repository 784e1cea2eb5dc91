"""What each change brought: the same training with one of them taken back, in turn with all of them.

In: a setting. Out: a `Section` with every variant's speed as a share of Regard's in the same run. A variant is named by
what it does without; the losses beside it show that nothing but the time changed.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

from benchmarks import training
from benchmarks.contest import OURS, Run, Turn, in_turn, losses, shares
from benchmarks.process import in_own_process
from benchmarks.section import Section, Table
from benchmarks.settings import Setting
from benchmarks.training import Measured
from regard.ops.native import native_off
from regard.ops.paths import naive_only

_RECURRENCES = ("lstm", "gru", "attending_lstm", "attending_gru", "input_feeding")


def _torch_for(*ops: str) -> Callable[[], ExitStack]:
    """These ops by their path in torch, the others in C."""

    def enter() -> ExitStack:
        stack = ExitStack()
        for op in ops:
            module = importlib.import_module(f"regard.ops.{op}")
            stack.enter_context(patch.object(module, "native_applies", lambda *_: False))
        return stack

    return enter


WITHOUT: dict[str, Callable[[], Any]] = {
    "recurrences in C": _torch_for(*_RECURRENCES),
    "the loss in C": _torch_for("word_loss"),
    "W x + b in C": _torch_for("affine"),
    "freed memory kept": lambda: patch("regard.training.fabric.keep_freed_memory", lambda: False),
    "anything in C": native_off,
    "anything but autograd": naive_only,
}
"""What a variant does without, and how that is brought about."""


@contextmanager
def without(what: str) -> Iterator[None]:
    """Take one change back while the block runs."""
    with WITHOUT[what]():
        yield


def train(setting: dict[str, Any], decoder: str, what: str) -> dict[str, Any]:
    """Train in this process without something; what `measure` calls in its child."""
    with without(what):
        return training.train(setting, decoder, "32")


def measure(setting: Setting, decoder: str, what: str, *, threads: int) -> Measured:
    """Train without something, in a process of its own."""
    given = {"setting": setting.to_json(), "decoder": decoder, "what": what}
    found = in_own_process("benchmarks.changes:train", given, threads=threads)
    return Measured(**found, warmup=setting.warmup)


def take_back(
    setting: Setting, decoder: str, *, rounds: int, threads: int, tell: Callable[[str], None]
) -> list[Turn]:
    """Train with all changes and, in turn, without each."""
    ours = partial(training.measure, setting, decoder, threads=threads)
    others: dict[str, Run] = {
        what: partial(measure, setting, decoder, what, threads=threads) for what in WITHOUT
    }
    return in_turn(ours, others, rounds, lambda name: tell(f"{setting.name}, {decoder}, without: {name}"))


def changes_section(turns: Mapping[str, list[Turn]]) -> Section:
    """A table for each model.

    Args:
        turns: by ``setting, decoder``.
    """
    tables = []
    for model, taken in turns.items():
        share, loss = shares(taken), losses(taken)
        rows = [[f"without {what}", share[what].written(".2f"), loss[what].written(".4f")] for what in share]
        rows.append(["with all of it", "1", loss[OURS].written(".4f")])
        tables.append(Table(f"{model}.", ["", f"share of {OURS}", "loss"], rows))
    return Section(
        "changes",
        "What each change brought",
        [
            "The same training, float32, with one thing taken back: its speed as a share of the mean of the two runs "
            "with everything that stand beside it. “Without anything in C” is the path of a machine without a "
            "compiler; “without anything but autograd” is the naive path, every equation as the paper prints it."
        ],
        tables,
        numbers={model: [turn.to_json() for turn in taken] for model, taken in turns.items()},
    )
