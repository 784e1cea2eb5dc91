"""One model out of several of one shape: every parameter the mean of theirs.

In: models, one at a time, so that no more than two are ever held. Out: the first with the means in it. The sums are
float64: the mean of one model n times over is that model, bit for bit.

Checkpoint averaging: model folders in, one ordinary model folder out.

The mean of the weights of one run's checkpoints, or of runs that began alike, is mostly a better model than the last
of them, at the cost of none. The weights' facts say what they were made of.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from regard.checkpoint import WEIGHTS, LoadedModel, ModelFolder
from regard.errors import ConfigError, DataError
from regard.text.tokenizer import refuse_other_vocabularies

M = TypeVar("M", bound=nn.Module)


def average(models: Iterable[M]) -> M:
    """Average parameters, and with them what is measured and not learnt.

    Args:
        models: at least one; the first is changed in place and returned.

    Raises:
        ConfigError: there are none, or a parameter of one has another name or shape than in the first.
    """
    sums: dict[str, Tensor] = {}
    first: M | None = None
    count = 0
    for model in models:
        count += 1
        own = _numbers(model)
        if first is None:
            first = model
            sums = {name: value.double().clone() for name, value in own.items()}
            continue
        shapes, others = ({name: tuple(value.shape) for name, value in each.items()} for each in (sums, own))
        if shapes != others:
            name = next(name for name in {**shapes, **others} if shapes.get(name) != others.get(name))
            raise ConfigError(
                f"{name}: {shapes.get(name, 'missing')} in the first model and {others.get(name, 'missing')} in "
                f"number {count}; only models of one architecture have a mean"
            )
        for name, value in own.items():
            sums[name] += value.double()
    if first is None:
        raise ConfigError("no models to average; name at least one")
    with torch.no_grad():
        for name, value in _numbers(first).items():
            value.copy_(sums[name] / count)
    return first


def _numbers(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by name, a shared one under its first name only; their memory is the model's own."""
    both = {**dict(model.named_parameters(remove_duplicate=True)), **dict(model.named_buffers())}
    return {name: value.detach() for name, value in both.items()}


_OF_TRAINING = ("dropout", "recurrent_dropout", "variational", "initialization")
"""Options of a model's configuration that change nothing of what it computes once it is trained."""


@dataclass(frozen=True)
class Averaged:
    """What was made.

    Attributes:
        folder: the new model.
        made_of: for each checkpoint that went into it, its folder, the name of its weights, and their update.
        num_parameters: of the model.
    """

    folder: Path
    made_of: tuple[dict[str, Any], ...]
    num_parameters: int


def average_folders(
    out: str | Path, folders: Sequence[str | Path], *, weights: Sequence[str] = ("best",)
) -> Averaged:
    """Average checkpoints of one architecture and one vocabulary, of any task.

    Args:
        out: where to write the model; it may not hold one already.
        folders: where the checkpoints are.
        weights: which of each folder: ``best``, ``last``, or both.

    Raises:
        ConfigError: there is nothing to average, or two models differ in more than their weights.
        DataError: `out` holds a model already, or cannot be written.
        FolderError: a folder or its weights cannot be read.
    """
    asked = [(ModelFolder(folder), name) for folder in folders for name in dict.fromkeys(weights)]
    if len(asked) < 2:
        raise ConfigError(
            f"{len(asked)} checkpoint{'' if len(asked) == 1 else 's'} to average; name several folders, or both "
            "weights of one (--weights best --weights last)"
        )
    made = ModelFolder(out)
    if any((made.path / f"{name}.safetensors").exists() for name in WEIGHTS):
        raise DataError(f"{made.path}: holds a model already; choose another folder, or remove that one")
    first = asked[0][0].load(asked[0][1])
    made_of: list[dict[str, Any]] = []

    def models() -> Iterator[Any]:
        for place, (folder, name) in enumerate(asked):
            loaded = first if place == 0 else folder.load(name, task=first.task)
            _refuse_strangers(first, loaded, asked[0][0].path, folder.path)
            made_of.append(
                {"folder": str(folder.path), "weights": name, "update": loaded.facts.get("update")}
            )
            yield loaded.model

    model = average(models())
    made.create(first.task, model.config, first.tokenizers, sizes=first.sizes, labels=first.labels)
    made.write_weights("best", model, {"averaged": made_of})
    return Averaged(made.path, tuple(made_of), model.num_parameters)


def _refuse_strangers(one: LoadedModel, other: LoadedModel, first: Path, second: Path) -> None:
    """Raise where two models differ in more than their weights."""
    refuse_other_vocabularies(one.tokenizers, other.tokenizers, str(first), str(second))
    if one.labels != other.labels or one.sizes != other.sizes:
        raise ConfigError(
            f"{first} and {second}: their labels or features differ; only models of one architecture have a mean"
        )
    mine, theirs = (_flat(each.model.config.to_mapping()) for each in (one, other))
    for name in {**mine, **theirs}:
        if name.rsplit(".", 1)[-1] not in _OF_TRAINING and mine.get(name) != theirs.get(name):
            raise ConfigError(
                f"model.{name}: {mine.get(name)} in {first} and {theirs.get(name)} in {second}; only models of one "
                "architecture have a mean"
            )


def _flat(options: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in options.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return flat
