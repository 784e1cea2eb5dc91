"""Training as `regard train` does it, with a stopwatch: target tokens a second, the loss, the peak of memory.

In: a setting, a decoder, a precision. Out: `Measured`. The task plans and pads its batches, Fabric holds the
precision, `training.loop.update` does the rest; only checkpoints and validations are left out.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

import torch

from benchmarks.process import in_own_process
from benchmarks.settings import SEED, Setting, task_of
from regard.batches import Batch
from regard.tasks.base import Task
from regard.training.fabric import build_fabric
from regard.training.loop import update
from regard.training.optimizer import build_optimizer


@dataclass(frozen=True)
class Measured:
    """One run, update by update.

    Attributes:
        seconds: of each update, batching counted.
        tokens: predictions each learnt from: target words and end marks, no padding.
        losses: nats a prediction, before each update.
        peak_bytes: the most memory the process held.
        warmup: how many updates go before the stopwatch starts.
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
        """All that was seen, update by update."""
        return {
            "tokens_per_second": self.tokens_per_second,
            "final_loss": self.final_loss,
            **asdict(self),
        }


def measure(setting: Setting, decoder: str, precision: str = "32", *, threads: int) -> Measured:
    """Train in a process of its own.

    Args:
        setting: model, corpus and how many updates.
        decoder: ``luong`` or ``bahdanau``.
        precision: as ``training.precision`` takes it.
        threads: how many it computes with.

    Raises:
        RegardError: the run failed.
    """
    arguments = {"setting": setting.to_json(), "decoder": decoder, "precision": precision}
    result = in_own_process("benchmarks.training:train", arguments, threads=threads)
    return Measured(**result, warmup=setting.warmup)


def train(setting: dict[str, Any], decoder: str, precision: str) -> dict[str, Any]:
    """Train in this process; what `measure` calls in its child."""
    chosen = Setting.from_json(setting)
    task = task_of(chosen, decoder, precision)
    fabric = build_fabric(task.config.training)
    torch.manual_seed(SEED)
    task.build()
    model, optimizer = fabric.setup(task.objective(), build_optimizer(task.model, task.config.training))
    model.train()

    def compute_loss(batch: Batch) -> torch.Tensor:
        return task.loss(model, batch, 0.0)

    def do(batch: Batch) -> float:
        return update(fabric, model, optimizer, [batch], compute_loss, clip=task.config.training.clip).loss

    return stopwatch(batches(task), do, chosen.updates)


def batches(task: Task) -> Iterator[Batch]:
    """The task's batches in the order of a run, epoch after epoch."""
    epoch = 0
    while True:
        for members in task.plan(epoch):
            yield task.batch(members)
        epoch += 1


def stopwatch(batches: Iterator[Batch], do: Callable[[Batch], float], updates: int) -> dict[str, Any]:
    """Do so many updates, and tell of each its seconds, its tokens and its loss.

    Args:
        batches: what to learn from; taking one counts as part of its update.
        do: learns from one and returns its loss, nats a prediction.
        updates: how many.
    """
    seconds, tokens, losses = [], [], []
    for _ in range(updates):
        started = time.perf_counter()
        batch = next(batches)
        losses.append(do(batch))
        seconds.append(time.perf_counter() - started)
        tokens.append(batch.num_tokens)
    return {"seconds": seconds, "tokens": tokens, "losses": losses}
