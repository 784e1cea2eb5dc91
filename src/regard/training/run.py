"""A whole training run: a configuration and examples in, a model folder out.

Beside the model itself, the folder then holds ``train.toml`` (the whole configuration, to run again), ``log.jsonl``
(what happened, line by line) and ``report.json`` (how it ended). Knows tasks only through `TASKS`.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from regard.checkpoint import WEIGHTS, ModelFolder
from regard.config import set_option, write_toml
from regard.errors import DataError
from regard.evaluation.metrics import METRICS, TextMetric
from regard.io import one_writer, remove_half_written, write_whole_text
from regard.ops.native import load
from regard.tasks import TASKS
from regard.tasks.base import Task
from regard.tasks.config import RunConfig
from regard.tasks.evaluation import write_report_json
from regard.text.formats import STDIN
from regard.training.configure import find_task, plan_run
from regard.training.fabric import build_fabric
from regard.training.log import TrainingLog
from regard.training.loop import Loop, LoopResult
from regard.training.progress import Event, Listener, Note, TrainingDisplay, ignore
from regard.version import __version__

Examples = str | Path | Iterable[Any]
"""A file, the files that belong together, or the examples themselves: for translating, (source, target) tuples.

Strings are names of files: for a language model, an example is a tuple of one line, ``("a line",)``.
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
    budget: float | None = None,
    progress: bool = True,
    listener: Listener = ignore,
) -> TrainedRun:
    """Train a model, from a notebook or a script.

    Args:
        folder: where to write the model.
        train: the training data: files, or the examples themselves (for a translator, (source, target) tuples; for a
            language model, tuples of one line; see each task of `regard.tasks`); None takes ``data.train``
            of `config`.
        valid: the validation data, in the same form; None takes ``data.valid``, or splits off some training examples.
        task: a name of `regard.tasks.TASKS`; None takes the preset's or `config`'s, or else what the files say.
        preset: where to start from, see ``regard train --list-presets``; None plans the run from its data.
        config: options as in a configuration file, such as ``{"training": {"max_epochs": 3}}``.
        options: single options, such as ``"training.max_epochs=3"``.
        budget: the minutes there are for training; the plan is fitted to them.
        progress: whether to show progress where there is a terminal or a notebook to show it in.
        listener: called with every event of the run; see `regard.training.progress`.

    Raises:
        RegardError: the data, the configuration or the folder cannot be used.
    """
    assigned: dict[str, Any] = {}
    for assignment in options:
        set_option(assigned, assignment)
    train_files, train_examples = _split_by_kind(train)
    valid_files, valid_examples = _split_by_kind(valid)
    files = {name: files for name, files in (("train", train_files), ("valid", valid_files)) if files}
    named = {"task": task} if task is not None else {}
    layers = (config or {}, {"data": files}, named, assigned)
    example = TASKS[find_task(*layers, preset=preset)[0]].example
    _check_files([*train_files, *valid_files], example)
    planned = plan_run(*layers, preset=preset, train=train_examples, valid=valid_examples, budget=budget)
    run, plan = planned.config, planned.lines
    display = TrainingDisplay() if progress else None
    if display is None or not display.is_interactive:
        return run_training(
            folder, run, train=train_examples, valid=valid_examples, listener=listener, plan=plan
        )

    def show(event: Event) -> None:
        display(event)
        listener(event)

    with display:
        return run_training(folder, run, train=train_examples, valid=valid_examples, listener=show, plan=plan)


def _split_by_kind(examples: Examples | None) -> tuple[list[str], list[Any] | None]:
    """The names of files, or else the examples themselves."""
    if examples is None:
        return [], None
    items: list[Any] = [examples] if isinstance(examples, str | Path) else list(examples)
    if items and all(isinstance(item, str | Path) for item in items):
        return [str(item) for item in items], None
    return [], items


def _check_files(names: Iterable[str], example: str) -> None:
    """Raise where examples may have been passed as strings, which are names of files."""
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
    plan: Sequence[str] = (),
) -> TrainedRun:
    """Train what a configuration describes.

    Args:
        folder: where to write the model; it may not hold one already, and no other process may write to it.
        config: the whole run.
        train: the training examples; None reads the files of ``config.data``.
        valid: the validation examples; None reads the files of ``config.data``, or splits off training examples.
        listener: called with every event.
        plan: how the configuration came about, in lines: told first, and written into ``train.toml`` as comments.

    Raises:
        RegardError: the data, the configuration or the folder cannot be used.
    """
    model_folder = ModelFolder(folder)
    with one_writer(model_folder.path):
        return _run(model_folder, config, train, valid, listener, plan)


def _run(
    model_folder: ModelFolder,
    config: RunConfig,
    train: Sequence[Any] | None,
    valid: Sequence[Any] | None,
    listener: Listener,
    plan: Sequence[str],
) -> TrainedRun:
    """Train in a folder that no other process writes to."""
    if model_folder.is_ensemble or any(
        (model_folder.path / f"{name}.safetensors").exists() for name in WEIGHTS
    ):
        raise DataError(
            f"{model_folder.path}: holds a model already; choose another folder, or remove that one"
        )
    remove_half_written(model_folder.path)
    for line in plan:
        listener(Note(line))
    fabric = build_fabric(config.training)
    task = TASKS[config.task].task(config, train, valid)
    torch.manual_seed(config.training.seed)
    model = task.build()
    for note in task.notes:
        listener(Note(note))
    num_decoded = _num_decoded(task)
    decoded = f" ({num_decoded:,} of them decoded)" if num_decoded not in (None, task.num_valid) else ""
    vocabularies = " and ".join(f"{tokenizer.size:,}" for tokenizer in task.tokenizers.values())
    listener(
        Note(
            f"{task.num_train:,} training {task.examples}, {task.num_valid:,} for validation{decoded}; "
            f"{'vocabularies' if len(task.tokenizers) > 1 else 'a vocabulary'} of {vocabularies}; "
            f"{model.num_parameters:,} parameters"
        )
    )
    without_c = load().reason if fabric.device.type == "cpu" else ""
    if without_c:
        listener(Note(f"training without the kernels in C, up to twice as slowly: {without_c}"))
    with TrainingLog(model_folder.path, config.training.tensorboard) as log:
        model_folder.create(task.name, model.config, task.tokenizers, sizes=task.sizes, labels=task.labels)
        comments = "".join(f"# {line}\n" for line in plan)
        write_whole_text(model_folder.path / "train.toml", comments + write_toml(config.to_mapping()))
        log.write(
            "start",
            0,
            regard=__version__,
            torch=torch.__version__,
            notes=list(task.notes),
            without_c=without_c,
            num_valid=task.num_valid,
            examples=task.examples,
            num_decoded=num_decoded,
        )
        result = Loop(task, config.training, model_folder, log, listener, fabric).run()
        log.write("end", result.updates, seconds=round(result.seconds, 3), stopped=result.stopped)
    report = _report(result, task)
    write_report_json(model_folder.path, report)
    return TrainedRun(model_folder.path, result, report)


def _num_decoded(task: Task) -> int | None:
    """How many validation examples BLEU and the like are computed on; None for a task that generates no text."""
    generates = any(isinstance(METRICS.get(key), TextMetric) for key in task.config.selections())
    return min(task.config.training.validation_sentences, task.num_valid) if generates else None


def _report(result: LoopResult, task: Task) -> dict[str, Any]:
    """What ``report.json`` says of a run."""
    num_decoded = _num_decoded(task)
    return {
        "task": task.name,
        "train_seconds": round(result.seconds, 3),
        "updates": result.updates,
        "epochs": round(result.epochs, 4),
        "tokens_per_second": round(result.tokens_per_second, 1),
        "stopped": result.stopped,
        "select": task.config.training.select,
        "best_update": result.best_update,
        "num_parameters": task.model.num_parameters,
        f"num_train_{task.examples}": task.num_train,
        f"num_valid_{task.examples}": task.num_valid,
        **({} if num_decoded is None else {f"num_decoded_{task.examples}": num_decoded}),
        "validation": result.best.to_json(),
    }
