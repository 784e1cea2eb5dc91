"""Checkpoint averaging: model folders in, one ordinary model folder out.

The mean of the weights of one run's checkpoints, or of runs that began alike, is mostly a better model than the last
of them, at the cost of none. The weights' facts say what they were made of.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.errors import ConfigError, DataError
from regard.folder import WEIGHTS, LoadedModel, ModelFolder
from regard.models.average import average
from regard.text.vocabularies import refuse_other_vocabularies

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
