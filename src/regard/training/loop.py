"""The training loop: one update, epochs of them, validations, checkpoints of best and last, and when to stop.

In: a task with its model, a configuration, a folder. Out: `LoopResult`; the folder holds the checkpoints and the log.
Devices, precision and processes are Lightning Fabric's; what the loss is, and on what data, is the task's.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.optim import Optimizer

from regard.batches import Batch
from regard.checkpoint import ModelFolder
from regard.errors import RegardError
from regard.evaluation.metrics import display_name
from regard.tasks.base import Task, Validation
from regard.tasks.config import TrainingConfig
from regard.training.log import TrainingLog
from regard.training.optimizer import Schedule, Unfreezing, build_optimizer
from regard.training.progress import Listener, Note, Progress, Validated

_REPORT_EVERY = 10  # updates

BatchType = TypeVar("BatchType", bound=Batch)


@dataclass(frozen=True)
class Updated:
    """What one update did.

    Attributes:
        loss: in nats per prediction.
        gradient_norm: before clipping.
        num_tokens: the number of predictions, EOS counted.
        num_read: the tokens that speed is counted in; see `Batch`.
    """

    loss: float
    gradient_norm: float
    num_tokens: int
    num_read: int


def update(
    fabric: Any,
    model: Any,
    optimizer: Optimizer,
    batches: Sequence[BatchType],
    compute_loss: Callable[[BatchType], Tensor],
    *,
    clip: float,
    normalize: str = "tokens",
    scaled: bool = False,
) -> Updated:
    """Move the weights once: forward, backward, clipping, the optimizer's step.

    Args:
        fabric: Lightning Fabric, which knows the device, the precision and the processes.
        model: the task's objective as `fabric.setup` returned it.
        optimizer: as `fabric.setup` returned it.
        batches: one, or as many as gradients are accumulated over; the loss is a mean over all of them together.
        compute_loss: a batch → its loss by that model, a sum over its predictions.
        clip: the greatest norm of the gradient; 0 for no limit.
        normalize: what the loss is a mean over, ``tokens`` or ``sentences``.
        scaled: whether float16's loss scaling is on, which skips updates that overflow by itself.

    Raises:
        RegardError: the loss or the gradient is not a finite number; the weights are as they were.
    """
    num_tokens = sum(batch.num_tokens for batch in batches)
    count = num_tokens if normalize == "tokens" else sum(batch.num_sentences for batch in batches)
    losses = []
    for k, batch in enumerate(batches):
        with fabric.no_backward_sync(model, enabled=k < len(batches) - 1):
            loss = compute_loss(batch)
            fabric.backward(loss / count)
        losses.append(loss.detach())
    norm = fabric.clip_gradients(model, optimizer, max_norm=clip or math.inf, error_if_nonfinite=False)
    # one transfer: an update waits for its device once, and before the weights move
    *sums, gradient_norm = torch.stack([*losses, norm.to(losses[0])]).tolist()
    total = sum(sums)
    if not math.isfinite(total):
        raise RegardError(
            f"the loss became {total}: training has diverged; lower training.learning_rate, or set training.clip"
        )
    if not math.isfinite(gradient_norm) and not scaled:
        raise RegardError(
            f"the gradient's norm became {gradient_norm}: training has diverged; "
            "lower training.learning_rate, or set training.clip"
        )
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return Updated(total / num_tokens, gradient_norm, num_tokens, sum(batch.num_read for batch in batches))


@dataclass(frozen=True)
class LoopResult:
    """How a run went.

    Attributes:
        updates: the number of updates.
        epochs: passes over the data, with the fraction.
        seconds: of the whole loop, validations included.
        tokens_per_second: per second of training, validations not counted: tokens predicted, or tokens read where a
            text has one label.
        best: the best validation.
        best_update: the update it followed.
        stopped: why the loop ended.
    """

    updates: int
    epochs: float
    seconds: float
    tokens_per_second: float
    best: Validation
    best_update: int
    stopped: str


class Loop:
    """One run over a task's data.

    Args:
        task: data and model; `Task.build` was called.
        config: how to train, and when to stop.
        folder: where checkpoints are written; `ModelFolder.create` was called.
        log: the training log.
        listener: called with every event.
        fabric: from `build_fabric`.
    """

    def __init__(
        self,
        task: Task,
        config: TrainingConfig,
        folder: ModelFolder,
        log: TrainingLog,
        listener: Listener,
        fabric: Any,
    ) -> None:
        self._task, self._config, self._folder = task, config, folder
        self._log, self._listener = log, listener
        self._groups_per_epoch = len(self._plan(0))
        self._total = self._last_update()
        self._schedule = Schedule(config, self._total, self._groups_per_epoch)
        self._fabric = fabric
        optimizer = build_optimizer(task.model, config)
        self._unfreezing = Unfreezing(optimizer, config, self._groups_per_epoch)
        self._model: Any
        self._optimizer: Optimizer
        self._model, self._optimizer = self._fabric.setup(task.objective(), optimizer)
        self._best: Validation | None = None
        self._best_update = self._updates = self._num_without_better = 0
        self._validated_at = -1
        self._started = self._training_seconds = 0.0
        self._tokens = 0
        self._gradient_norm = 0.0

    def run(self) -> LoopResult:
        """Train until a limit is reached.

        Raises:
            KeyboardInterrupt: the user stopped it; the last weights are saved first.
        """
        self._started = time.perf_counter()
        self._model.train()
        try:
            stopped = self._train()
            if self._validated_at != self._updates:
                self._validate()
        except KeyboardInterrupt:
            self._save("last")
            self._listener(
                Note(f"stopped by hand; the weights of update {self._updates:,} are saved as last")
            )
            raise
        assert self._best is not None, "at least the last update is validated"
        return LoopResult(
            self._updates,
            self._updates / self._groups_per_epoch,
            self._seconds(),
            self._tokens / max(self._training_seconds, 1e-9),
            self._best,
            self._best_update,
            stopped,
        )

    def _train(self) -> str:
        """Update until a limit is reached; return which."""
        every = self._config.validate_every or self._groups_per_epoch
        losses: list[float] = []
        before = time.perf_counter()
        for batches in self._batches():
            learning_rate = self._config.learning_rate * self._schedule.factor(
                self._updates + 1, self._time_used()
            )
            self._unfreezing.set_learning_rates(learning_rate, self._updates)
            result = update(
                self._fabric,
                self._model,
                self._optimizer,
                batches,
                self._loss,
                clip=self._config.clip,
                normalize=self._config.normalize,
                scaled=self._config.precision == "16",
            )
            self._updates += 1
            self._tokens += result.num_read
            losses.append(result.loss)
            self._gradient_norm = result.gradient_norm
            now = time.perf_counter()
            self._training_seconds += now - before
            before = now
            if self._updates % _REPORT_EVERY == 0 or self._updates == 1:
                self._report(sum(losses) / len(losses), learning_rate)
                losses.clear()
            if self._updates % every == 0:
                self._validate()
                before = time.perf_counter()
            if reason := self._stop():
                return reason
        raise AssertionError("the batches never end")

    def _loss(self, batch: Batch) -> Tensor:
        return self._task.loss(self._model, batch, self._fraction() or 0.0)

    def _plan(self, epoch: int) -> list[Sequence[Sequence[int]]]:
        """The batches of an epoch, as many to a group as gradients are accumulated over."""
        batches = self._task.plan(epoch)
        every = self._config.accumulate
        return [batches[k : k + every] for k in range(0, len(batches), every)]

    def _batches(self) -> Iterator[list[Batch]]:
        epoch = 0
        while True:
            for group in self._plan(epoch):
                yield [self._task.batch(members).to(self._fabric.device) for members in group]
            epoch += 1

    def _last_update(self) -> int | None:
        limits = []
        if self._config.max_updates:
            limits.append(self._config.max_updates)
        if self._config.max_epochs:
            limits.append(max(1, math.ceil(self._config.max_epochs * self._groups_per_epoch)))
        return min(limits, default=None)

    def _stop(self) -> str | None:
        config = self._config
        if config.max_updates and self._updates >= config.max_updates:
            return f"{config.max_updates:,} updates are done"
        if self._total is not None and self._updates >= self._total:
            return f"{config.max_epochs:g} epochs are done"
        if config.max_minutes and self._seconds() >= 60 * config.max_minutes:
            return f"{config.max_minutes:g} minutes are over"
        if config.patience and self._num_without_better >= config.patience:
            return f"{config.patience} validations without a better {display_name(config.select)}"
        return None

    def _seconds(self) -> float:
        return time.perf_counter() - self._started

    def _time_used(self) -> float:
        """The share of the time limit that is over; 0 where there is none."""
        return self._seconds() / (60 * self._config.max_minutes) if self._config.max_minutes else 0.0

    def _fraction(self) -> float | None:
        """How much of the run is over, by the limit that will end it first; None where none is known."""
        fractions = []
        if self._total is not None:
            fractions.append(self._updates / self._total)
        if self._config.max_minutes:
            fractions.append(self._time_used())
        return min(max(fractions), 1.0) if fractions else None

    def _report(self, loss: float, learning_rate: float) -> None:
        progress = Progress(
            self._updates,
            self._updates / self._groups_per_epoch,
            self._fraction(),
            self._seconds(),
            loss,
            learning_rate,
            self._tokens / max(self._training_seconds, 1e-9),
        )
        self._listener(progress)
        self._log.write(
            "train",
            progress.update,
            seconds=round(progress.seconds, 3),
            epoch=round(progress.epoch, 4),
            loss=loss,
            gradient_norm=self._gradient_norm,
            learning_rate=learning_rate,
            tokens_per_second=round(progress.tokens_per_second, 1),
        )

    def _validate(self) -> None:
        config = self._config
        validation = self._task.validate(self._fabric.device)
        self._validated_at = self._updates
        better = self._best is None or validation.better_than(self._best, config.select)
        self._log.write(
            "validation",
            self._updates,
            seconds=round(self._seconds(), 3),
            best=better,
            **validation.to_json(),
        )
        if better:
            self._best, self._best_update, self._num_without_better = validation, self._updates, 0
            self._save("best", validation)
        else:
            self._num_without_better += 1
        self._save("last", validation)
        self._schedule.observe(better)
        self._listener(Validated(self._updates, self._seconds(), validation, config.select, better))

    def _save(self, name: str, validation: Validation | None = None) -> None:
        facts = {"update": self._updates, "epoch": self._updates / self._groups_per_epoch}
        self._folder.write_weights(
            name, self._task.model, {**facts, **(validation.to_json() if validation else {})}
        )
