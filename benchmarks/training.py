"""Training as ``regard train`` does it, timed: target tokens per second, the loss, peak memory.

In: a setting, a decoder, a precision. Out: `TrainingResult`. The task plans and pads its batches, Fabric sets the
precision, `training.loop.update` does the rest; only checkpoints and validation are left out.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

import torch

from benchmarks.process import run_in_subprocess
from benchmarks.settings import SEED, Setting, build_task
from regard.batches import Batch
from regard.tasks.base import Task
from regard.training.fabric import build_fabric
from regard.training.loop import update
from regard.training.optimizer import build_optimizer


@dataclass(frozen=True)
class TrainingResult:
    """One run, update by update.

    Attributes:
        seconds: per update, with batching.
        tokens: target tokens per update: words and end symbols, no padding.
        losses: nats per target token, before each update.
        peak_bytes: peak memory of the process.
        warmup: the number of updates that are not timed.
    """

    seconds: Sequence[float]
    tokens: Sequence[int]
    losses: Sequence[float]
    peak_bytes: int
    warmup: int

    @property
    def tokens_per_second(self) -> float:
        """After the warm-up."""
        return sum(self.tokens[self.warmup :]) / sum(self.seconds[self.warmup :])

    @property
    def final_loss(self) -> float:
        """The mean over the last fifth of the updates, so that one batch does not decide."""
        return fmean(self.losses[-max(1, len(self.losses) // 5) :])

    def to_json(self) -> dict[str, Any]:
        """All that was measured, update by update."""
        return {
            "tokens_per_second": self.tokens_per_second,
            "final_loss": self.final_loss,
            **asdict(self),
        }


def measure(setting: Setting, decoder: str, precision: str = "32", *, threads: int) -> TrainingResult:
    """Train in a subprocess.

    Args:
        setting: the model, its corpus and the number of updates.
        decoder: ``luong`` or ``bahdanau``.
        precision: a value of ``training.precision``.
        threads: the number of threads.

    Raises:
        RegardError: the run failed.
    """
    arguments = {"setting": setting.to_json(), "decoder": decoder, "precision": precision}
    result = run_in_subprocess("benchmarks.training:train", arguments, threads=threads)
    return TrainingResult(**result, warmup=setting.warmup)


def train(setting: dict[str, Any], decoder: str, precision: str) -> dict[str, Any]:
    """Train in this process; `measure` calls this in a subprocess."""
    chosen = Setting.from_json(setting)
    task = build_task(chosen, decoder, precision)
    fabric = build_fabric(task.config.training)
    torch.manual_seed(SEED)
    task.build()
    model, optimizer = fabric.setup(task.objective(), build_optimizer(task.model, task.config.training))
    model.train()

    def loss(batch: Batch) -> torch.Tensor:
        return task.loss(model, batch, 0.0)

    def train_on(batch: Batch) -> float:
        return update(fabric, model, optimizer, [batch], loss, clip=task.config.training.clip).loss

    return time_updates(batches(task), train_on, chosen.updates)


def batches(task: Task) -> Iterator[Batch]:
    """The task's batches in the order of a run, epoch after epoch."""
    epoch = 0
    while True:
        for members in task.plan(epoch):
            yield task.batch(members)
        epoch += 1


def time_updates(
    batches: Iterator[Batch], train_on: Callable[[Batch], float], updates: int
) -> dict[str, Any]:
    """Do a number of updates and record the seconds, target tokens and loss of each.

    Args:
        batches: the training data; taking a batch counts as part of its update.
        train_on: does one update and returns its loss, nats per target token.
        updates: the number of updates.
    """
    seconds, tokens, losses = [], [], []
    for _ in range(updates):
        started = time.perf_counter()
        batch = next(batches)
        losses.append(train_on(batch))
        seconds.append(time.perf_counter() - started)
        tokens.append(batch.num_tokens)
    return {"seconds": seconds, "tokens": tokens, "losses": losses}
