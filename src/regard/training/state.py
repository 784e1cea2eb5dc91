"""Where a run stands, as one value, and the checkpoints that keep it on disk.

`TrainingState` is all that the next update depends on beside weights, configuration and data. `Checkpoints` writes it
with the weights into ``checkpoints/`` of a model folder, and reads back the newest one that is undamaged:

    00001200.safetensors          the weights after update 1,200, as ``best`` and ``last`` have them
    00001200.state.safetensors    the optimizer's tensors, random states and counts

A checkpoint is complete once its second file is there. ``best.safetensors`` and ``last.safetensors`` are links to the
weights, made after that. The folder ``checkpoints/`` can be deleted: the model can then be used, but not resumed.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from regard.checkpoint import ModelFolder, fill_model, unshared
from regard.errors import FolderError
from regard.io import build_dataclass, link_whole, make_folder, remove_file, remove_half_written
from regard.tasks.base import Validation
from regard.tensors import read_facts, read_tensors, write_tensors
from regard.training.guards import LossGuard
from regard.training.optimizer import OPTIMIZER_STATE
from regard.training.progress import Listener, Note

_NAME = re.compile(r"(\d{8,})(\.state)?\.safetensors")


@dataclass(frozen=True)
class RankedValidation:
    """A validation and the update it followed."""

    update: int
    validation: Validation


@dataclass
class TrainingState:
    """Where a run stands.

    Attributes:
        updates: how many are done.
        epoch: the number of complete passes over the data.
        position: the updates done in the present pass.
        seconds: since the run began, validations and earlier sessions included.
        training_seconds: the part of them spent in updates.
        tokens: how many were read; see `Batch.num_read`.
        losses: of the updates since the last report.
        ranked: the best validations, from best to worst.
        num_without_better: validations since the best one.
        validated_at: the update of the last validation; −1 before the first.
        plateau: the factor of the schedule of that name.
        guard: what is remembered of the losses.
        scaler: the state of float16's loss scaling.
        log_size: of the training log, in bytes.
        world_size: the number of processes that train together.
        tensors: of the optimizer, the random generators and the task, by name.
    """

    updates: int = 0
    epoch: int = 0
    position: int = 0
    seconds: float = 0.0
    training_seconds: float = 0.0
    tokens: int = 0
    losses: list[float] = field(default_factory=list)
    ranked: list[RankedValidation] = field(default_factory=list)
    num_without_better: int = 0
    validated_at: int = -1
    plateau: float = 1.0
    guard: LossGuard = field(default_factory=LossGuard)
    scaler: dict[str, Any] = field(default_factory=dict)
    log_size: int = 0
    world_size: int = 1
    tensors: dict[str, Tensor] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Everything but the tensors as plain values."""
        return asdict(replace(self, tensors={}))

    @classmethod
    def from_json(cls, facts: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> "TrainingState":
        """What `to_json` wrote, with its tensors.

        Raises:
            ValueError: it is something else.
        """
        state = build_dataclass(cls, facts)
        guard = state.guard
        if (state.validated_at >= 0 and not state.ranked) or (guard.initial is None) != (guard.last is None):
            raise ValueError("its state contradicts itself")
        return replace(state, tensors=dict(tensors))

    def rank(self, validation: Validation, select: str, count: int) -> bool:
        """Put a validation among the best ones; of equals the first stays before.

        Args:
            validation: after the newest update.
            select: the score to rank by.
            count: how many to keep.

        Returns:
            Whether it is the best.
        """
        place = sum(not validation.better_than(other.validation, select) for other in self.ranked)
        self.ranked.insert(place, RankedValidation(self.updates, validation))
        del self.ranked[count:]
        return place == 0


def optimizer_tensors(model: nn.Module, optimizer: Optimizer) -> dict[str, Tensor]:
    """An optimizer's tensors by the parameter's name and their own: ``optimizer/decoder.C/exp_avg``."""
    names: dict[Tensor, str] = {parameter: name for name, parameter in model.named_parameters()}
    return {
        f"optimizer/{names[parameter]}/{key}": value
        for parameter, state in optimizer.state.items()
        for key, value in state.items()
        if value is not None
    }


def restore_optimizer(model: nn.Module, optimizer: Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Give an optimizer what `optimizer_tensors` returned; the learning rates stay its own.

    Raises:
        ValueError: they are of another model or another optimizer.
    """
    names = {parameter: name for name, parameter in model.named_parameters()}
    ordered = [names[parameter] for group in optimizer.param_groups for parameter in group["params"]]
    shapes = {name: parameter.shape for parameter, name in names.items()}
    known = next(keys for of, keys in OPTIMIZER_STATE.items() if isinstance(optimizer, of))
    state: dict[int, dict[str, Tensor]] = {}
    for path, tensor in tensors.items():
        kind, _, rest = path.partition("/")
        if kind == "optimizer":
            name, _, key = rest.rpartition("/")
            if key not in known or tensor.shape != (() if key == "step" else shapes.get(name)):
                raise ValueError(f"{path} of shape {tuple(tensor.shape)}")
            state.setdefault(ordered.index(name), {})[key] = tensor
    if any(len(each) < len(known) for each in state.values()):
        raise ValueError("a part of the optimizer's state is missing")
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


def random_tensors(device: torch.device) -> dict[str, Tensor]:
    """The states of the generators that a run samples from."""
    states = {"random/cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["random/cuda"] = torch.cuda.get_rng_state(device)
    return states


def restore_random(device: torch.device, tensors: Mapping[str, Tensor]) -> None:
    """Set the generators to what `random_tensors` returned; another device's generator is left as it is."""
    torch.set_rng_state(tensors["random/cpu"])
    if device.type == "cuda" and "random/cuda" in tensors:
        torch.cuda.set_rng_state(tensors["random/cuda"], device)


def named_by_rank(own: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """The tensors of all processes, by rank, as one table: the first one's names are as they are."""
    return {_rank_name(rank, name): tensor for rank, each in enumerate(own) for name, tensor in each.items()}


def of_rank(tensors: Mapping[str, Tensor], rank: int) -> dict[str, Tensor]:
    """The tensors of one process, among those of a state: random generators and the task's."""
    prefix = _rank_name(rank, "")
    own = {name.removeprefix(prefix): each for name, each in tensors.items() if name.startswith(prefix)}
    return {name: each for name, each in own.items() if name.startswith(("random/", "task/"))}


def _rank_name(rank: int, name: str) -> str:
    return f"rank-{rank}/{name}" if rank else name


def own_seed(seed: int, updates: int, rank: int) -> int:
    """A seed of dropout for one of several processes that begin, or go on after some updates in another number."""
    digest = hashlib.sha256(f"{seed} {updates} {rank}".encode()).digest()
    return int.from_bytes(digest[:8], "big")


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint as it was read: the state, the weights by name, and the file of the weights."""

    state: TrainingState
    weights: Mapping[str, Tensor]
    path: Path

    def fill(self, model: nn.Module) -> None:
        """Copy the weights into a model.

        Raises:
            FolderError: it is another model.
        """
        fill_model(model, self.weights, self.path)


class Checkpoints:
    """The checkpoints of one run. Only the process that holds the folder's lock may use them.

    Args:
        folder: of the model.
        keep_last: how many to keep, from the newest on.
    """

    def __init__(self, folder: ModelFolder, keep_last: int) -> None:
        self._folder, self._keep_last = folder, keep_last
        self._path = folder.path / "checkpoints"

    def write(self, state: TrainingState, model: nn.Module, facts: Mapping[str, Any]) -> None:
        """Write a checkpoint, publish it as ``last`` and ``best``, and remove those that are not kept.

        Args:
            state: after some update; see `TrainingState`.
            model: with the weights after that update.
            facts: plain values to keep with the weights.

        Raises:
            CheckpointError: it cannot be written; those before it are untouched.
        """
        make_folder(self._path)
        write_tensors(self._weights(state.updates), unshared(model), facts)
        write_tensors(self._state(state.updates), state.tensors, state.to_json())
        self._publish(state)
        self._prune()

    def newest(self, listener: Listener) -> Checkpoint | None:
        """Read the newest checkpoint that is undamaged, and remove what is newer; None where there is none at all.

        Args:
            listener: called with a note for each damaged one.

        Raises:
            FolderError: all are damaged.
        """
        remove_half_written(self._path)
        complete = self._complete()
        for update in reversed(complete):
            try:
                tensors, facts = read_tensors(self._state(update))
                weights, _ = read_tensors(self._weights(update))
                state = TrainingState.from_json(facts, tensors)
                if state.updates != update:
                    raise ValueError(f"its state is that of update {state.updates:,}")
            except (FolderError, FileNotFoundError, ValueError) as error:
                listener(Note(f"the checkpoint of update {update:,} cannot be used: {error}"))
                continue
            for path, number, _ in self._files():
                if number > update:
                    remove_file(path)
            self._drop_damaged(state, listener)
            self._publish(state)
            return Checkpoint(state, weights, self._weights(update))
        if complete:
            raise FolderError(
                f"{self._path}: every checkpoint is damaged; copy the folder again, or train in another one"
            )
        return None

    def _drop_damaged(self, state: TrainingState, listener: Listener) -> None:
        """Rank no longer what cannot be loaded; where nothing is left, the run validates again."""
        for each in list(state.ranked):
            try:
                read_tensors(self._weights(each.update))
            except (FolderError, FileNotFoundError) as error:
                listener(
                    Note(f"the weights of update {each.update:,}, among the best, cannot be used: {error}")
                )
                state.ranked.remove(each)
        if not state.ranked:
            state.validated_at = -1

    def fill(self, model: nn.Module, update: int) -> None:
        """Copy the weights of a checkpoint that is kept into a model.

        Raises:
            FolderError: they are damaged.
        """
        weights, _ = read_tensors(self._weights(update))
        fill_model(model, weights, self._weights(update))

    def publish_average(self, model: nn.Module, facts: Mapping[str, Any]) -> None:
        """Let ``best`` be weights that are no checkpoint's.

        Raises:
            CheckpointError: they cannot be written.
        """
        self._folder.write_weights("best", model, dict(facts))

    def _weights(self, update: int) -> Path:
        return self._path / f"{update:08d}.safetensors"

    def _state(self, update: int) -> Path:
        return self._path / f"{update:08d}.state.safetensors"

    def _files(self) -> Iterator[tuple[Path, int, bool]]:
        """Each file, its update, and whether it is a state."""
        for path in sorted(self._path.glob("*.safetensors")):
            if (match := _NAME.fullmatch(path.name)) and not path.is_dir():
                yield path, int(match[1]), match[2] is not None

    def _complete(self) -> list[int]:
        """The updates whose checkpoint is complete, the newest last."""
        return sorted(update for _, update, is_state in self._files() if is_state)

    def _publish(self, state: TrainingState) -> None:
        """Let ``last`` be this checkpoint's weights and ``best`` those of the best validation."""
        published = {"last": state.updates}
        if state.ranked:
            published["best"] = state.ranked[0].update
        for name, update in published.items():
            if self._weights(update).exists():
                link_whole(self._weights(update), self._folder.path / f"{name}.safetensors")

    def _prune(self) -> None:
        """Remove all but the newest checkpoints and the weights that one of those ranks."""
        newest = self._complete()[-self._keep_last :]
        ranked: set[int] = set()
        for update in newest:
            with suppress(FolderError, ValueError):  # an older one that is damaged ranks nothing
                state = TrainingState.from_json(read_facts(self._state(update)), {})
                ranked |= {each.update for each in state.ranked}
        for path, update, is_state in self._files():
            if update not in newest and (is_state or update not in ranked):
                remove_file(path)
