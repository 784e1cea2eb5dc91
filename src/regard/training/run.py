"""From a preset, a file and flags to one run's configuration.

A whole training run: examples in, a model folder out.

The folder then holds, beside the model itself: ``train.toml`` (the whole configuration, to run again),
``log.jsonl`` (what happened), and ``report.json`` (how it ended).
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch

from regard.checkpoint import WEIGHTS, ModelFolder
from regard.config import merge, one_of, set_option, write_toml
from regard.errors import ConfigError, DataError
from regard.io import make_folder, write_whole_text
from regard.models import DecoderConfig
from regard.models.attention import refitted
from regard.ops.native import load
from regard.tasks import TASKS, Preset, prepare_task
from regard.tasks.base import Task
from regard.tasks.config import RunConfig
from regard.tasks.translate.evaluation import write_json
from regard.tasks.translate.presets import with_decoder
from regard.text.formats import STDIN
from regard.training.events import Listener, Note, ignore
from regard.training.fabric import build_fabric
from regard.training.log import TrainingLog
from regard.training.loop import Loop, LoopResult
from regard.training.presets import PRESETS, task_of_preset
from regard.version import __version__


def configure(*layers: Mapping[str, Any], preset: str | None = None) -> RunConfig:
    """A run's configuration: a preset, with layers laid over it in turn.

    A layer may ask for another kind of decoder, or for another energy; what the layers below it say of their own
    alone is then left out.

    Args:
        layers: mappings as a TOML file gives them; the last one wins. A layer may name the ``preset``
            and the ``task``.
        preset: the starting point; by default the one a layer names, or else the task's own.

    Raises:
        ConfigError: an unknown preset, option or value, or a preset that is another task's.
    """
    merged: dict[str, Any] = {}
    for layer in layers:
        merged = merge(refitted(merged, layer), layer)
    named = merged.pop("preset", None)
    task = merged.get("task")
    if task is not None:
        one_of("task", task, TASKS)
    chosen = preset or named or TASKS[task or next(iter(TASKS))].default_preset
    one_of("preset", chosen, PRESETS)
    base = PRESETS[chosen]()
    owner = task_of_preset(chosen)
    if task is not None and task != owner:
        raise ConfigError(
            f"preset {chosen!r} is for the task {owner!r}, and the task is {task!r}; "
            f"choose {' or '.join(TASKS[task].presets())}"
        )
    return RunConfig.from_mapping(merge(refitted(_for_kind(base, merged), merged), merged), "")


def _for_kind(preset: Preset, over: Mapping[str, Any]) -> Preset:
    """The preset without what a decoder of another kind, where one is asked for, has no use for."""
    model = over.get("model")
    decoder = model.get("decoder") if isinstance(model, Mapping) else None
    kind = decoder.get("kind") if isinstance(decoder, Mapping) else None
    if (
        not isinstance(kind, str)
        or kind not in DecoderConfig.variants
        or "decoder" not in preset["model"]
        or kind == preset["model"]["decoder"]["kind"]
    ):
        return preset
    known = {field.name for field in fields(DecoderConfig.variants[kind])}
    kept = {name: value for name, value in preset["model"]["decoder"].items() if name in known}
    return with_decoder(preset, {"model": {"decoder": {"kind": kind, **kept}}})


Examples = str | Path | Iterable[Any]
"""A file, the files that belong together, or the examples themselves: for translating, (source, target) tuples.

Strings are names of files: of a language model, a line to learn from is a tuple of one line, ``("a line",)``.
"""


@dataclass(frozen=True)
class TrainedRun:
    """A finished run.

    Attributes:
        folder: where the model is.
        result: how it went.
        report: what ``report.json`` says.
    """

    folder: Path
    result: LoopResult
    report: dict[str, Any]


def train(
    folder: str | Path,
    train: Examples | None = None,
    valid: Examples | None = None,
    *,
    task: str | None = None,
    preset: str | None = None,
    config: Mapping[str, Any] | None = None,
    options: Iterable[str] = (),
    listener: Listener = ignore,
) -> TrainedRun:
    """Train a model, from a notebook or a script.

    Args:
        folder: where to write the model.
        train: what to learn from: files, or the examples themselves (of a translator, (source, target) tuples; of a
            language model, tuples of one line; see each task of `regard.tasks`); None takes ``data.train``
            of `config`.
        valid: what to validate with, likewise; None takes ``data.valid``, or sets some training examples aside.
        task: translate, lm, classify, tag or describe; None takes the preset's or `config`'s, or else translate.
        preset: where to start from; see `regard.training.presets`.
        config: options as in a configuration file, such as ``{"training": {"max_epochs": 3}}``.
        options: single options, such as ``"training.max_epochs=3"``.
        listener: who is told how it goes.

    Raises:
        RegardError: the data, the configuration or the folder cannot be used.
    """
    chosen: dict[str, Any] = {}
    for assignment in options:
        set_option(chosen, assignment)
    train_files, train_examples = _told_apart(train)
    valid_files, valid_examples = _told_apart(valid)
    files = {name: files for name, files in (("train", train_files), ("valid", valid_files)) if files}
    named = {"task": task} if task is not None else {}
    run = configure(config or {}, {"data": files}, named, chosen, preset=preset)
    _check_files([*train_files, *valid_files], TASKS[run.task].example)
    return run_training(folder, run, train=train_examples, valid=valid_examples, listener=listener)


def _told_apart(examples: Examples | None) -> tuple[list[str], list[Any] | None]:
    """The names of files, or else the examples themselves."""
    if examples is None:
        return [], None
    items: list[Any] = [examples] if isinstance(examples, str | Path) else list(examples)
    if items and all(isinstance(item, str | Path) for item in items):
        return [str(item) for item in items], None
    return [], items


def _check_files(names: Iterable[str], example: str) -> None:
    """Raise where examples may have been given as strings, which are names of files."""
    for name in names:
        if name != STDIN and not os.path.exists(name):  # `Path.exists` raises on a long line
            raise DataError(
                f"{name[:80]!r}: no such file; strings are names of files, and examples are tuples, as [{example}]"
            )


def run_training(
    folder: str | Path,
    config: RunConfig,
    *,
    train: Sequence[Any] | None = None,
    valid: Sequence[Any] | None = None,
    listener: Listener = ignore,
) -> TrainedRun:
    """Train what a configuration describes.

    Args:
        folder: where to write the model; it may not hold one already.
        config: the whole run.
        train: the examples to learn from; None reads the files of ``config.data``.
        valid: the examples to validate with, likewise.
        listener: who is told how it goes.

    Raises:
        RegardError: the data, the configuration or the folder cannot be used.
    """
    model_folder = ModelFolder(folder)
    if any((model_folder.path / f"{name}.safetensors").exists() for name in WEIGHTS):
        raise DataError(
            f"{model_folder.path}: holds a model already; choose another folder, or remove that one"
        )
    fabric = build_fabric(config.training)
    task = prepare_task(config, train, valid)
    torch.manual_seed(config.training.seed)
    model = task.build()
    for note in task.notes:
        listener(Note(note))
    vocabularies = " and ".join(f"{tokenizer.size:,}" for tokenizer in task.tokenizers.values())
    listener(
        Note(
            f"{task.num_train:,} {task.examples} to learn from, {task.num_valid:,} to validate with; "
            f"{'vocabularies' if len(task.tokenizers) > 1 else 'a vocabulary'} of {vocabularies}; "
            f"{model.num_parameters:,} parameters"
        )
    )
    without = load().reason if fabric.device.type == "cpu" else ""
    if without:
        listener(Note(f"training without the kernels in C, up to twice as slowly: {without}"))
    make_folder(model_folder.path)
    with TrainingLog(model_folder.path, config.training.tensorboard) as log:
        model_folder.create(task.name, model.config, task.tokenizers, sizes=task.sizes, labels=task.labels)
        write_whole_text(model_folder.path / "train.toml", write_toml(config.to_mapping()))
        log.write(
            "start", 0, regard=__version__, torch=torch.__version__, notes=list(task.notes), without_c=without
        )
        result = Loop(task, config.training, model_folder, log, listener, fabric).run()
        log.write("end", result.updates, seconds=round(result.seconds, 3), stopped=result.stopped)
    report = _report(result, task)
    write_json(model_folder.path, report)
    return TrainedRun(model_folder.path, result, report)


def _report(result: LoopResult, task: Task) -> dict[str, Any]:
    """What ``report.json`` says of a run."""
    return {
        "task": task.name,
        "train_seconds": round(result.seconds, 3),
        "updates": result.updates,
        "epochs": round(result.epochs, 4),
        "tokens_per_second": round(result.tokens_per_second, 1),
        "stopped": result.stopped,
        "best_update": result.best_update,
        "num_parameters": task.model.num_parameters,
        f"num_train_{task.examples}": task.num_train,
        f"num_valid_{task.examples}": task.num_valid,
        "validation": result.best.to_json(),
    }
