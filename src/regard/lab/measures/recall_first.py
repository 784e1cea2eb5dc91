"""The task that needs memory and nothing else: which symbol came first?

In: a reader, sizes, a rate, a clip. Out: what each update did, and how often the reader is right afterwards. Lines are
drawn anew for every update, all symbols alike, so nothing but the symbol asked for says anything about the answer.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from regard.errors import RegardError
from regard.lab.measures.reader import LastStepReader
from regard.training.config import TrainingConfig
from regard.training.fabric import build_fabric
from regard.training.loss import sequence_loss
from regard.training.step import update
from regard.training.tasks import TrainingBatch


@dataclass(frozen=True)
class Course:
    """How a training went.

    Attributes:
        losses: in nats, one an update.
        norms: of the gradient before clipping, one an update.
        diverged: whether it stopped because the loss or the gradient was no number any more.
    """

    losses: tuple[float, ...]
    norms: tuple[float, ...]
    diverged: bool

    @property
    def end(self) -> float:
        """The mean loss of the last tenth of updates; infinite where it diverged."""
        tail = self.losses[-max(1, len(self.losses) // 10) :]
        return float("inf") if self.diverged else sum(tail) / len(tail)


def draw_lines(
    generator: torch.Generator, rows: int, length: int, symbols: int, asked: int = 0
) -> tuple[Tensor, Tensor]:
    """Some lines and their answers: ids (rows, length), and of each line the symbol at the place asked for."""
    ids = torch.randint(symbols, (rows, length), generator=generator)
    return ids, ids[:, asked]


def endless_lines(
    seed: int, rows: int, length: int, symbols: int, asked: int = 0
) -> Iterator[tuple[Tensor, Tensor]]:
    """Batches for ever, the same for equal seeds; see `draw_lines`."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield draw_lines(generator, rows, length, symbols, asked)


def teach(
    reader: LastStepReader,
    optimizer: Optimizer,
    lines: Iterator[tuple[Tensor, Tensor]],
    *,
    updates: int,
    clip: float,
) -> Course:
    """Train a reader in place, by the toolkit's own update.

    Args:
        reader: what learns.
        optimizer: over its parameters.
        lines: batches of ids and answers.
        updates: how many.
        clip: the greatest norm of the gradient; 0 for no limit.
    """
    fabric = build_fabric(TrainingConfig(device="cpu", max_updates=updates))
    model, ready = fabric.setup(reader, optimizer)

    def learn(batch: TrainingBatch) -> Tensor:
        ids, answers = batch.tensors
        return sequence_loss(model(ids), answers)

    losses: list[float] = []
    norms: list[float] = []
    for _ in range(updates):
        ids, answers = next(lines)
        batch: Any = TrainingBatch((ids, answers), len(ids), len(ids))
        try:
            done = update(fabric, model, ready, [batch], learn, clip=clip)
        except RegardError:
            return Course(tuple(losses), tuple(norms), diverged=True)
        losses.append(done.loss)
        norms.append(done.gradient_norm)
    return Course(tuple(losses), tuple(norms), diverged=False)


def accuracy(reader: LastStepReader, ids: Tensor, answers: Tensor) -> float:
    """How often the reader's likeliest answer is right."""
    with torch.no_grad():
        return float((reader(ids).argmax(dim=-1) == answers).double().mean())
