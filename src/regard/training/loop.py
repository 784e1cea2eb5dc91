"""The training loop: one update, epochs of them, validations, checkpoints, and when to stop.

In: a task with its model, a configuration, a state to go on from. Out: `LoopResult`; checkpoints and the log on disk.
Devices and precision are Lightning Fabric's; what the loss is, and on what data, is the task's. Several processes make
the same updates together: each learns from its share of every batch, and all decide alike when to validate and to stop.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import astuple, dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from regard.batches import Batch
from regard.batches.epochs import Groups
from regard.errors import FolderError, RegardError, is_out_of_memory
from regard.evaluation.metrics import display_name
from regard.inference.ensemble import average_models
from regard.models import Model
from regard.processes import ALONE, LostProcessError, Processes
from regard.tasks.base import Task, Validation
from regard.tasks.config import TrainingConfig
from regard.training.averaging import MovingAverage, restore_raw
from regard.training.guards import halve
from regard.training.log import TrainingLog
from regard.training.optimizer import Schedule, Unfreezing, build_optimizer
from regard.training.pace import Pace
from regard.training.progress import Event, Listener, Note, Progress, Validated
from regard.training.signals import StoppedTraining, StopRequest
from regard.training.state import (
    Checkpoints,
    RankedValidation,
    TrainingState,
    named_by_rank,
    of_rank,
    optimizer_tensors,
    own_seed,
    random_tensors,
    restore_optimizer,
    restore_random,
)

_REPORT_EVERY = 10  # updates

BatchType = TypeVar("BatchType", bound=Batch)


@dataclass(frozen=True)
class Counts:
    """How much is in some batches; see `Batch`."""

    num_tokens: int
    num_sentences: int
    num_read: int

    @classmethod
    def of(cls, batches: Iterable[Batch]) -> "Counts":
        """Count batches."""
        each = [(batch.num_tokens, batch.num_sentences, batch.num_read) for batch in batches]
        return cls(*map(sum, zip(*each, strict=True))) if each else cls(0, 0, 0)


@dataclass(frozen=True)
class Updated:
    """What one update did.

    Attributes:
        loss: in nats per prediction.
        gradient_norm: before clipping.
        num_tokens: the number of predictions, EOS counted.
        num_read: the tokens that speed is counted in; see `Batch`.
        skipped: why the weights were left as they were; empty if they were not.
    """

    loss: float
    gradient_norm: float
    num_tokens: int
    num_read: int
    skipped: str = ""


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
    processes: Processes = ALONE,
    counts: Counts | None = None,
) -> Updated:
    """Move the weights once: forward, backward, clipping, the optimizer's step.

    The loss is Σ L / N over the batches of all processes together: Σ L is the sum of their losses and N the number of
    their tokens, or sentences. Each process computes its part of the sum, and the gradients are added up.

    Where the loss or the gradient is not finite, the weights stay as they are; the result says why.

    Args:
        fabric: Lightning Fabric, which knows the device, the precision and the processes.
        model: the task's objective as `fabric.setup` returned it.
        optimizer: as `fabric.setup` returned it.
        batches: one, or as many as gradients are accumulated over; the loss is a mean over all of them together. None
            where only other processes have some.
        compute_loss: a batch → its loss by that model, a sum over its predictions.
        clip: the greatest norm of the gradient; 0 for no limit.
        normalize: what the loss is a mean over, ``tokens`` or ``sentences``.
        scaled: whether float16's loss scaling is on, which skips updates that overflow by itself.
        processes: those that make the update together.
        counts: of the batches of all of them; None where there is one process.
    """
    counts = counts or Counts.of(batches)
    count = counts.num_tokens if normalize == "tokens" else counts.num_sentences
    losses = []
    for batch in batches:
        loss = compute_loss(batch)
        fabric.backward(loss / count)
        losses.append(loss.detach())
    if processes.world_size > 1:
        losses = [_sum_gradients(list(model.parameters()), losses, processes)]
    norm = fabric.clip_gradients(model, optimizer, max_norm=clip or math.inf, error_if_nonfinite=False)
    # one transfer: an update waits for its device once, and before the weights move
    *sums, gradient_norm = torch.stack([*losses, norm.to(losses[0])]).tolist()
    total = sum(sums)
    skipped = "" if math.isfinite(total) else f"the loss is {total}"
    if not skipped and not math.isfinite(gradient_norm) and not scaled:
        skipped = f"the gradient's norm is {gradient_norm}"
    if scaled or not skipped:  # loss scaling steps always, and skips by itself
        optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return Updated(total / counts.num_tokens, gradient_norm, counts.num_tokens, counts.num_read, skipped)


def _sum_gradients(
    parameters: Sequence[nn.Parameter], losses: Sequence[Tensor], processes: Processes
) -> Tensor:
    """Let every process have the sum of all gradients, and return the sum of all losses, in one exchange.

    A parameter without a gradient in some processes has a zero one there; without one in all, it stays so.
    """
    device = parameters[0].device
    own = torch.stack(list(losses)).sum() if losses else torch.zeros((), device=device)
    has = torch.tensor([parameter.grad is not None for parameter in parameters], device=device)
    gradients = [torch.zeros_like(each) if each.grad is None else each.grad for each in parameters]
    together = torch.cat([own.view(1), has.to(own), *(gradient.flatten() for gradient in gradients)])
    processes.sum_in_place(together)
    total, had, *parts = torch.split(together, [1, len(parameters), *(each.numel() for each in parameters)])
    for parameter, any_has, part in zip(parameters, had.tolist(), parts, strict=True):
        parameter.grad = part.view_as(parameter) if any_has else None
    return total[0]


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
        skipped: the number of updates that left the weights as they were, for a loss that was not finite.
    """

    updates: int
    epochs: float
    seconds: float
    tokens_per_second: float
    best: Validation
    best_update: int
    stopped: str
    skipped: int = 0


class Loop:
    """One run over a task's data, from its beginning or from a checkpoint.

    Args:
        task: data and model; `Task.build` was called.
        config: how to train, and when to stop.
        checkpoints: where checkpoints are written.
        log: the training log.
        listener: called with every event.
        fabric: from `build_fabric`.
        state: of the checkpoint to go on from, whose weights the model has; None for a new run.
        processes: those that train together; the first has the weights to start from, and alone uses `checkpoints`.
    """

    def __init__(
        self,
        task: Task,
        config: TrainingConfig,
        checkpoints: Checkpoints,
        log: TrainingLog,
        listener: Listener,
        fabric: Any,
        state: TrainingState | None = None,
        processes: Processes = ALONE,
    ) -> None:
        self._processes = processes
        self._task, self._config, self._checkpoints = task, config, checkpoints
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
        processes.copy_from_first(task.model.state_dict().values())
        self._moving = MovingAverage(task.model, config.moving_average) if config.moving_average else None
        self._state = state or TrainingState()
        if state is not None:
            self._restore(state)
        elif not processes.is_first:  # which have dropout of their own
            torch.manual_seed(own_seed(config.seed, 0, processes.rank))
        self._started = time.perf_counter()
        self._now = self._saved_at = 0.0
        self._signal: int | None = None
        self._updating = False
        self._pace = Pace()
        self._most_batches = 1
        self._saved_update = -1 if state is None else state.updates
        self._stop_request = StopRequest(lambda text: listener(Note(text)))

    def run(self) -> LoopResult:
        """Train until a limit is reached.

        Raises:
            KeyboardInterrupt: the user or a signal stopped it; a checkpoint is written first.
        """
        state = self._state
        self._started = time.perf_counter() - state.seconds
        self._saved_at = state.seconds
        self._model.train()
        with self._stop_request:
            try:
                stopped = self._train()
                self._warn_of_warmup()
                if state.validated_at != state.updates:
                    self._validate()
                state.guard.refuse_high(self._advice())
                best = self._processes.on_first(self._average_best)
            except (MemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
                raise RegardError(
                    f"out of memory after update {state.updates:,}; lower training.batch_tokens (now "
                    f"{self._config.batch_tokens}) or training.batch_sentences (now {self._config.batch_sentences})"
                ) from error
            except KeyboardInterrupt as stop:
                # within an update, the weights are those of none; several processes stop together only if all know
                together = self._processes.world_size == 1 or isinstance(stop, StoppedTraining)
                if together and not self._updating and self._saved_update != state.updates:
                    self._save()
                name = stop.name if isinstance(stop, StoppedTraining) else "Ctrl-C"
                with suppress(OSError):  # a terminal that is gone
                    self._listener(
                        Note(f"stopped by {name} after update {state.updates:,}, with a checkpoint")
                    )
                    self._warn_of_warmup()
                raise
        return LoopResult(
            state.updates,
            state.updates / self._groups_per_epoch,
            self._seconds(),
            state.tokens / max(state.training_seconds, 1e-9),
            best.validation,
            best.update,
            stopped,
            state.guard.num_skipped,
        )

    def _warn_of_warmup(self) -> None:
        """Say so if the learning rate has not reached its full value: such a model is hardly trained."""
        if self._schedule.warming(self._state.updates, self._time_used()):
            self._listener(
                Note(
                    f"the run ends inside its warm-up, after update {self._state.updates:,} of "
                    f"{self._config.warmup:,}: the learning rate has not reached {self._config.learning_rate:g}; train "
                    "longer, or lower training.warmup"
                )
            )

    def _train(self) -> str:
        """Update until a limit is reached; return which."""
        state, every = self._state, self._validate_every
        groups = self._plan(state.epoch)
        while True:
            self._agree()
            if state.updates and state.updates % every == 0 and state.validated_at != state.updates:
                self._validate()
                self._agree()
            elif self._is_checkpoint_due():
                self._save()
            if state.updates and (reason := self._stop()):
                return reason
            if self._signal is not None:
                raise StoppedTraining(self._signal)
            if state.position == len(groups):
                state.epoch, state.position = state.epoch + 1, 0
                groups = self._plan(state.epoch)
            self._update(groups[state.position])

    def _agree(self) -> None:
        """Let all processes have the first one's time, and a signal that any of them has received."""
        first = self._seconds() if self._processes.is_first else 0.0
        self._now, number = self._processes.max(first, self._stop_request.signal or 0)
        self._signal = int(number) or None

    def _update(self, group: Sequence[Sequence[int]]) -> None:
        """Train on the batches of one update, and report now and then."""
        state, before = self._state, time.perf_counter()
        learning_rate = self._config.learning_rate * self._schedule.factor(
            state.updates + 1, self._time_used()
        )
        self._unfreezing.set_learning_rates(learning_rate, state.updates)
        self._updating = True
        result = self._attempt([part for members in group if (part := self._task.share(members))])
        state.updates += 1
        state.position += 1
        if self._moving is not None:
            self._moving.observe(state.updates)
        state.tokens += result.num_read
        if not result.skipped:
            state.losses.append(result.loss)
        seconds = time.perf_counter() - before
        state.training_seconds += seconds
        self._pace.updated(seconds)
        self._updating = False
        state.guard.count_skipped(result.skipped, self._spoiled() if result.skipped else "", self._advice())
        if state.losses and (state.updates % _REPORT_EVERY == 0 or state.updates == 1):
            self._report(result.gradient_norm, learning_rate)

    def _attempt(self, group: Sequence[Sequence[int]], counts: Counts | None = None) -> Updated:
        """One update; on a GPU, batches that do not fit into its memory are halved until they do.

        Args:
            group: the batches of this process.
            counts: of those of all processes, once they are known.
        """
        device = self._fabric.device
        before = random_tensors(device), self._task.carried()
        try:
            batches = [self._task.batch(members).to(device) for members in group]
            if counts is None:
                counts = Counts(*map(int, self._processes.sum(*astuple(Counts.of(batches)))))
            return update(
                self._fabric,
                self._model,
                self._optimizer,
                batches,
                self._loss,
                clip=self._config.clip,
                normalize=self._config.normalize,
                scaled=self._config.precision == "16",
                processes=self._processes,
                counts=counts,
            )
        except torch.OutOfMemoryError:
            halves = halve(group)
            if halves is None:
                raise
        # outside the handler, whose error keeps the tensors of the failed attempt
        if len(halves) > self._most_batches:
            self._most_batches = len(halves)
            self._notify(
                Note(f"a batch does not fit into the GPU's memory: it is trained on in {len(halves)} parts")
            )
        self._optimizer.zero_grad(set_to_none=True)
        torch.cuda.empty_cache()
        restore_random(device, before[0])
        self._task.restore(before[1], device)
        return self._attempt(halves, counts)

    def _spoiled(self) -> str:
        """The name of the first parameter that is not finite; empty if there is none."""
        parameters = self._task.model.named_parameters()
        return next((name for name, each in parameters if not each.isfinite().all()), "")

    def _advice(self) -> str:
        """What to do where training diverges."""
        clip = "" if self._config.clip else ", or set training.clip"
        return f"lower training.learning_rate (now {self._config.learning_rate:g}){clip}"

    def _loss(self, batch: Batch) -> Tensor:
        return self._task.loss(self._model, batch, self._fraction() or 0.0)

    def _plan(self, epoch: int) -> Sequence[Sequence[Sequence[int]]]:
        """The batches of an epoch, as many to a group as gradients are accumulated over."""
        return Groups(self._task.plan(epoch), self._config.accumulate)

    def _last_update(self) -> int | None:
        limits = []
        if self._config.max_updates:
            limits.append(self._config.max_updates)
        if self._config.max_epochs:
            limits.append(max(1, math.ceil(self._config.max_epochs * self._groups_per_epoch)))
        return min(limits, default=None)

    def _stop(self) -> str | None:
        config, updates = self._config, self._state.updates
        if config.max_updates and updates >= config.max_updates:
            return f"{config.max_updates:,} updates are done"
        if self._total is not None and updates >= self._total:
            return f"{config.max_epochs:g} epochs are done"
        if config.max_minutes and self._now >= 60 * config.max_minutes:
            return f"its time, {config.max_minutes:g} min, is over"
        if config.patience and self._state.num_without_better >= config.patience:
            return f"{config.patience} validations without a better {display_name(config.select)}"
        return None

    def _seconds(self) -> float:
        """Since the run began, earlier sessions counted up to the checkpoint that they left."""
        return time.perf_counter() - self._started

    def _time_used(self) -> float:
        """The share of the time limit that is over; 0 where there is none."""
        return self._now / (60 * self._config.max_minutes) if self._config.max_minutes else 0.0

    def _fraction(self) -> float | None:
        """How much of the run is over, by the limit that will end it first; None where none is known."""
        fractions = []
        if self._total is not None:
            fractions.append(self._state.updates / self._total)
        if self._config.max_minutes:
            fractions.append(self._time_used())
        return min(max(fractions), 1.0) if fractions else None

    @property
    def _validate_every(self) -> int:
        return self._config.validate_every or self._groups_per_epoch

    def _seconds_left(self) -> float | None:
        """Until the first limit: of updates, at the pace of this session, or of time; None where it is not known.

        Patience may end a run before: the line of a validation says how near that is.
        """
        by_updates = None
        if self._total is not None:
            every, done = self._validate_every, self._state.updates
            validated = (done if self._state.validated_at == done else done - 1) // every
            by_updates = self._pace.left(self._total - done, -(-self._total // every) - validated)
        if not self._config.max_minutes:
            return by_updates
        by_time = max(60 * self._config.max_minutes - self._seconds(), 0.0) + self._pace.validation
        return by_time if by_updates is None else min(by_updates, by_time)

    def _report(self, gradient_norm: float, learning_rate: float) -> None:
        state = self._state
        loss = sum(state.losses) / len(state.losses)
        state.losses.clear()
        state.guard.observe(loss, self._advice())
        progress = Progress(
            state.updates,
            state.updates / self._groups_per_epoch,
            self._fraction(),
            self._seconds(),
            loss,
            learning_rate,
            state.tokens / max(state.training_seconds, 1e-9),
            self._seconds_left(),
        )
        self._log.write(
            "train",
            progress.update,
            seconds=round(progress.seconds, 3),
            epoch=round(progress.epoch, 4),
            loss=loss,
            gradient_norm=gradient_norm,
            learning_rate=learning_rate,
            tokens_per_second=round(progress.tokens_per_second, 1),
            **({"skipped": state.guard.num_skipped} if state.guard.num_skipped else {}),
        )
        self._notify(progress)

    def _validate(self) -> None:
        config, state, before = self._config, self._state, time.perf_counter()
        try:
            measured = self._processes.on_each(self._measure)
            validation = self._processes.on_first(lambda: self._task.summarize(measured))
        except LostProcessError:
            raise
        except RegardError:
            state.guard.refuse_skipped(self._spoiled(), self._advice())  # which may be why
            raise
        better = state.rank(validation, config.select, max(config.keep_best, config.average_best))
        state.validated_at = state.updates
        state.num_without_better = 0 if better else state.num_without_better + 1
        self._schedule.observe(better)
        self._log.write(
            "validation",
            state.updates,
            seconds=round(self._seconds(), 3),
            best=better,
            **validation.to_json(),
        )
        self._save(validation)
        self._pace.validated(time.perf_counter() - before)
        self._notify(
            Validated(
                state.updates,
                self._seconds(),
                validation,
                config.select,
                better,
                state.num_without_better,
                config.patience,
            )
        )

    def _measure(self) -> Any:
        """This process's part of a validation, until a signal comes."""
        with self._averaged(), self._stop_request.breakable():
            return self._task.measure(self._fabric.device, self._processes)

    def _averaged(self) -> AbstractContextManager[None]:
        """Let the model have its averaged weights for a while, where there are any."""
        return nullcontext() if self._moving is None else self._moving.swapped()

    def _average_best(self) -> RankedValidation:
        """The best validation: of a checkpoint, or of the mean of the best checkpoints, which is then published."""
        config, state = self._config, self._state
        best, members = state.ranked[0], state.ranked[: config.average_best]
        if len(members) < 2:
            return best

        def models() -> Iterator[Model]:
            for each in members:
                self._checkpoints.fill(self._task.model, each.update)
                yield self._task.model

        average_models(models())
        with self._stop_request.breakable():
            validation = self._task.validate(self._fabric.device)
        better = validation.better_than(best.validation, config.select)
        averaged = [each.update for each in members]
        self._log.write(
            "validation",
            state.updates,
            seconds=round(self._seconds(), 3),
            best=better,
            averaged=averaged,
            **validation.to_json(),
        )
        self._notify(Validated(state.updates, self._seconds(), validation, config.select, better))
        listed = ", ".join(f"{update:,}" for update in averaged)
        if not better:
            self._notify(
                Note(f"that was the mean of the checkpoints of updates {listed}; the best of them stays best")
            )
            return best
        self._notify(
            Note(f"that was the mean of the checkpoints of updates {listed}, which is the best model")
        )
        self._checkpoints.publish_average(self._task.model, {"averaged": averaged, **validation.to_json()})
        return RankedValidation(state.updates, validation)

    def _notify(self, event: Event) -> None:
        try:
            self._listener(event)
        except OSError:
            if self._stop_request.signal is None:
                raise  # else the terminal is gone, and a signal said so, which is soon obeyed

    def _is_checkpoint_due(self) -> bool:
        minutes = self._config.checkpoint_minutes
        return minutes > 0 and self._now - self._saved_at >= 60 * minutes

    def _save(self, validation: Validation | None = None) -> None:
        """Write a checkpoint, with the scores of a validation where there was one."""
        state = self._state
        state.seconds, state.plateau = self._seconds(), self._schedule.plateau
        state.scaler = self._fabric.strategy.precision.state_dict()
        carried = {f"task/{name}": tensor.cpu().clone() for name, tensor in self._task.carried().items()}
        own = self._processes.gather({**random_tensors(self._fabric.device), **carried})
        self._saved_at, self._saved_update = self._now, state.updates
        if not self._processes.is_first:
            return
        state.world_size = self._processes.world_size
        state.log_size = self._log.sync()
        state.tensors = {**optimizer_tensors(self._task.model, self._optimizer), **named_by_rank(own)}
        if self._moving is not None:
            state.tensors |= {name: tensor.clone() for name, tensor in self._moving.raw_tensors().items()}
        facts = {"update": state.updates, "epoch": state.updates / self._groups_per_epoch}
        with self._averaged():
            self._checkpoints.write(
                state, self._task.model, {**facts, **(validation.to_json() if validation else {})}
            )
        state.tensors = {}

    def _restore(self, state: TrainingState) -> None:
        """Go on from a state; the model has the weights of its checkpoint, averaged or not.

        Raises:
            FolderError: the state is not one of this run.
        """
        try:
            if state.position > len(self._plan(state.epoch)):
                raise ValueError(f"update {state.position:,} of an epoch")
            select = self._config.select
            if not all(select in each.validation.to_json() for each in state.ranked):
                raise ValueError(f"a validation without {display_name(select)}")
            self._restore_parts(state)
        except (LookupError, TypeError, ValueError, RuntimeError, AssertionError) as error:
            raise FolderError(
                f"the state of the checkpoint after update {state.updates:,} does not fit this run ({error}); copy the "
                "folder again, or remove that checkpoint"
            ) from error

    def _restore_parts(self, state: TrainingState) -> None:
        restore_raw(self._task.model, state.tensors)
        restore_optimizer(self._task.model, self._optimizer, state.tensors)
        self._fabric.strategy.precision.load_state_dict(state.scaler)
        self._schedule.plateau = state.plateau
        if state.world_size == self._processes.world_size:
            own = of_rank(state.tensors, self._processes.rank)
            restore_random(self._fabric.device, own)
            carried = {
                name.removeprefix("task/"): tensor for name, tensor in own.items() if name.startswith("task/")
            }
            self._task.restore(carried, self._fabric.device)
        else:  # the shares are others, and so is all that belongs to one
            torch.manual_seed(own_seed(self._config.seed, state.updates, self._processes.rank))
        state.tensors = {}
