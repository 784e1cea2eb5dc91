"""Checkpoint averaging: several models of one architecture → one whose every parameter is the mean of theirs.

The mean of the checkpoints of one run, or of runs that started from the same weights, is mostly better than the last
of them, at no cost when decoding. `average_models` takes models one at a time, so that no more than two are held; its
sums are float64, so that the mean of n copies of a model is that model, bit for bit. `average_folders` reads and
writes model folders; the facts of the new weights name their sources.
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


def average_models(models: Iterable[M]) -> M:
    """Average parameters and buffers.

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
        numbers = _numbers(model)
        if first is None:
            first = model
            sums = {name: value.double().clone() for name, value in numbers.items()}
            continue
        expected, shapes = (
            {name: tuple(value.shape) for name, value in each.items()} for each in (sums, numbers)
        )
        if expected != shapes:
            name = next(name for name in {**expected, **shapes} if expected.get(name) != shapes.get(name))
            raise ConfigError(
                f"{name}: {expected.get(name, 'missing')} in the first model and {shapes.get(name, 'missing')} in "
                f"number {count}; only models of one architecture have a mean"
            )
        for name, value in numbers.items():
            sums[name] += value.double()
    if first is None:
        raise ConfigError("no models to average; name at least one")
    with torch.no_grad():
        for name, value in _numbers(first).items():
            value.copy_(sums[name] / count)
    return first


def _numbers(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by name, a shared one under its first name only; they share the model's memory."""
    both = {**dict(model.named_parameters(remove_duplicate=True)), **dict(model.named_buffers())}
    return {name: value.detach() for name, value in both.items()}


_TRAINING_OPTIONS = ("dropout", "recurrent_dropout", "variational", "initialization")
"""Options of a model's configuration that do not change what a trained model computes."""


@dataclass(frozen=True)
class AveragedModel:
    """A model folder that averaging wrote.

    Attributes:
        folder: of the new model.
        sources: for each checkpoint that went into it, its folder, the name of its weights, and their update.
        num_parameters: of the model.
    """

    folder: Path
    sources: tuple[dict[str, Any], ...]
    num_parameters: int


def average_folders(
    out: str | Path, folders: Sequence[str | Path], *, weights: Sequence[str] = ("best",)
) -> AveragedModel:
    """Average checkpoints of one architecture and one vocabulary, of any task.

    Args:
        out: where to write the model; there may not be one already.
        folders: where the checkpoints are.
        weights: which of each folder: ``best``, ``last``, or both.

    Raises:
        ConfigError: there is nothing to average, or two models differ in more than their weights.
        DataError: `out` has a model already, or cannot be written.
        FolderError: a folder or its weights cannot be read.
    """
    checkpoints = [(ModelFolder(folder), name) for folder in folders for name in dict.fromkeys(weights)]
    if len(checkpoints) < 2:
        raise ConfigError(
            f"{len(checkpoints)} checkpoint{'' if len(checkpoints) == 1 else 's'} to average; name several folders, or "
            "both weights of one (--weights best --weights last)"
        )
    averaged = ModelFolder(out)
    if any((averaged.path / f"{name}.safetensors").exists() for name in WEIGHTS):
        raise DataError(
            f"{averaged.path}: there is a model already; choose another folder, or remove that one"
        )
    first = checkpoints[0][0].load(checkpoints[0][1])
    sources: list[dict[str, Any]] = []

    def models() -> Iterator[Any]:
        for index, (folder, name) in enumerate(checkpoints):
            loaded = first if index == 0 else folder.load(name, task=first.task)
            _refuse_different(first, loaded, checkpoints[0][0].path, folder.path)
            sources.append(
                {"folder": str(folder.path), "weights": name, "update": loaded.facts.get("update")}
            )
            yield loaded.model

    model = average_models(models())
    averaged.create(first.task, model.config, first.tokenizers, sizes=first.sizes, labels=first.labels)
    averaged.write_weights("best", model, {"averaged": sources})
    return AveragedModel(averaged.path, tuple(sources), model.num_parameters)


def _refuse_different(first: LoadedModel, second: LoadedModel, first_path: Path, second_path: Path) -> None:
    """Raise where two models differ in more than their weights."""
    refuse_other_vocabularies(first.tokenizers, second.tokenizers, str(first_path), str(second_path))
    if first.labels != second.labels or first.sizes != second.sizes:
        raise ConfigError(
            f"{first_path} and {second_path}: their labels or features differ; only models of one architecture have "
            "a mean"
        )
    options, others = (_flat(each.model.config.to_mapping()) for each in (first, second))
    for name in {**options, **others}:
        if name.rsplit(".", 1)[-1] not in _TRAINING_OPTIONS and options.get(name) != others.get(name):
            raise ConfigError(
                f"model.{name}: {options.get(name)} in {first_path} and {others.get(name)} in {second_path}; only "
                "models of one architecture have a mean"
            )


def _flat(options: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in options.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return flat
