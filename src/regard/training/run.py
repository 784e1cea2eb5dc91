"""A whole training run, begun or resumed: a configuration and examples in, a model folder out.

Beside the model itself, the folder then holds ``train.toml`` (the whole configuration, to run again), ``run.json``
(data, versions and commands), ``log.jsonl`` (what happened, line by line), ``checkpoints/`` (to resume from),
``report.json`` (how it ended) and ``report.html`` (the same to look at: curves, scores, examples). Knows tasks only
through `TASKS`.
"""

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import torch

from regard.checkpoint import WEIGHTS, LoadedModel, ModelFolder, read_log, read_options
from regard.config import flatten, set_option, toml_value, write_toml
from regard.device import ProcessorTimes, ThreadChoice, threads_for_training, threads_set_to
from regard.errors import ConfigError, DataError, FolderError
from regard.evaluation.metrics import METRICS, TextMetric, display_name
from regard.io import one_writer, remove_file, remove_half_written, write_whole_text
from regard.models.transfer import copy_trained
from regard.openmp import spins_long
from regard.ops.native import load
from regard.plots.page import Report, write_report
from regard.processes import Processes
from regard.tasks import TASKS
from regard.tasks.base import Task, Vocabulary
from regard.tasks.config import RunConfig
from regard.tasks.evaluation import write_report_json
from regard.text.formats import STDIN
from regard.text.tokenizer import refuse_other_vocabularies
from regard.training.configure import begun_options, find_task, plan_run
from regard.training.fabric import build_fabric
from regard.training.log import TrainingLog
from regard.training.loop import Loop, LoopResult
from regard.training.prepare import prepare_large
from regard.training.progress import Event, Listener, Note, TrainingDisplay, ignore
from regard.training.provenance import (
    describe_session,
    differences,
    fingerprint,
    read_run,
    refuse_other_data,
    refuse_unlike_data,
    write_run,
)
from regard.training.state import Checkpoint, Checkpoints, TrainingState
from regard.version import __version__

PAGE = "report.html"
"""The page of a run in its folder: scores, curves, examples."""

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
        scored_on: the examples behind the scores, in words, such as "450 validation pairs".
    """

    folder: Path
    result: LoopResult
    report: dict[str, Any]
    scored_on: str

    @property
    def page(self) -> Path | None:
        """The report page; None where none was written."""
        path = self.folder / PAGE
        return path if path.exists() else None


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
    resume: bool = False,
    start_from: str | Path | None = None,
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
        resume: go on from the newest checkpoint of a run that was stopped or is finished, with its configuration and
            whatever is changed here, such as more epochs; examples that are not in files have to be given again. A run
            that has not begun yet is begun.
        start_from: the folder of a trained model: the run starts from its weights, tokenizers and labels; with
            ``"training.extend_vocabulary=true"`` in `options`, new words, characters and labels are added.
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
    started = {} if start_from is None else {"training": {"start_from": str(start_from)}}
    layers: tuple[Mapping[str, Any], ...] = (config or {}, {"data": files}, named, started, assigned)
    example = TASKS[find_task(*layers, preset=preset)[0]].example
    _check_files([*train_files, *valid_files], example)
    if train_examples is None:
        stored = prepare_large(
            Path(folder), *layers, preset=preset, listener=lambda text: listener(Note(text))
        )
        layers = (*layers, stored)
    planned = plan_run(
        *layers,
        preset=preset,
        train=train_examples,
        valid=valid_examples,
        budget=budget,
        begun=begun_options(Path(folder)) if resume else None,
    )
    display = TrainingDisplay() if progress and Processes.launched().is_first else None
    shown = display is not None and display.is_interactive

    def listen(event: Event) -> None:
        if display is not None and shown:
            display(event)
        listener(event)

    with display if display is not None and shown else nullcontext():
        return run_training(
            folder,
            planned.config,
            train=train_examples,
            valid=valid_examples,
            listener=listen,
            plan=planned.lines,
            resume=resume,
        )


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
    page: bool = True,
    command: str = "",
    resume: bool = False,
) -> TrainedRun:
    """Train what a configuration describes.

    Args:
        folder: where to write the model; no other process may write to it, and it may not hold a model already, unless
            that is resumed.
        config: the whole run.
        train: the training examples; None reads the files of ``config.data``.
        valid: the validation examples; None reads the files of ``config.data``, or splits off training examples.
        listener: called with every event.
        plan: how the configuration came about, in lines: the first notes, and written into ``train.toml`` as comments.
        page: whether to write ``report.html``.
        command: what to type to train again, for that page.
        resume: go on from the folder's newest checkpoint, or from the beginning where there is none yet. The weights
            are then those of a run that was never stopped. Data and model have to be the same; limits, schedule and
            other options of training may differ from then on.

    Under torchrun, each of its processes calls this with the same arguments: they train one model together, and the
    first of them writes the folder and calls the listener.

    Raises:
        RegardError: the data, the configuration or the folder cannot be used, or another process has ended.
    """
    processes = Processes.launched()
    fabric = build_fabric(config.training, processes)
    config = processes.broadcast(config)
    model_folder = ModelFolder(folder)
    checkpoints = Checkpoints(model_folder, config.training.keep_last)
    checkpoint: Checkpoint | None = None
    with one_writer(model_folder.path) if processes.is_first else nullcontext():
        if processes.is_first:
            checkpoint = _find_checkpoint(checkpoints, model_folder, config, listener, resume)
        else:
            listener = ignore
        state = processes.broadcast(None if checkpoint is None else checkpoint.state)
        for line in plan:
            listener(Note(line))
        run = _Run(model_folder, config, train, valid, listener, fabric, processes, resumed=state is not None)
        if processes.is_first:
            if checkpoint is None:
                run.create(plan)
            else:
                run.go_on(checkpoint)
        trained = run.train(checkpoints, state)
        if page and processes.is_first:
            run.write_page(trained, command)
        return trained


def _find_checkpoint(
    checkpoints: Checkpoints, folder: ModelFolder, config: RunConfig, listener: Listener, resume: bool
) -> Checkpoint | None:
    """The checkpoint to go on from, in a folder that no other process writes to; None to begin.

    Raises:
        RegardError: the folder holds a model that a new run would destroy, or a run of other options.
    """
    remove_half_written(folder.path)
    checkpoint = checkpoints.newest(listener) if resume else None
    if checkpoint is None:
        _refuse_model(folder, resume)
    else:
        _refuse_other_options(folder.path, config)
    return checkpoint


def _refuse_model(folder: ModelFolder, resume: bool) -> None:
    """Raise where a folder holds a model that a new run would destroy."""
    if resume and any(folder.path.glob("seed-*/train.toml")):
        raise DataError(f"{folder.path}: holds an ensemble; repeat its command, with its --seeds, to go on")
    if folder.is_ensemble or any((folder.path / f"{name}.safetensors").exists() for name in WEIGHTS):
        remedy = "choose another folder, or remove that one"
        if not resume:
            raise DataError(
                f"{folder.path}: holds a model already; {remedy}, or go on training it with --resume"
            )
        raise DataError(
            f"{folder.path}: holds a model and no checkpoint to resume from; start a new run from its weights, as "
            f"regard train NEW --from {folder.path}"
        )


_FIXED = ("optimizer", "seed", "split_seed", "batch_sentences", "batch_tokens", "accumulate")
"""Options of training that a resumed run may not change: its state, or its place in the data, depends on them."""


def _refuse_other_options(folder: Path, config: RunConfig) -> None:
    """Raise where a resumed run differs in more than how it goes on."""
    before = flatten(read_options(folder / "train.toml"))
    now = flatten(tomllib.loads(write_toml(config.to_mapping())))
    for path in (*now, *before):
        table, _, name = path.partition(".")
        free = table == "training" and name not in _FIXED
        is_file = table == "data" and name in ("train", "valid", "train_links")  # their content is compared
        if free or is_file or before.get(path) == now.get(path):
            continue
        old, new = (toml_value(each[path]) if path in each else "not set" for each in (before, now))
        raise ConfigError(
            f"{path}: {old} in the run of {folder}, and {new} now; a resumed run can change only how it goes on, such "
            f"as its length and its schedule: start a new one from its weights, as regard train NEW --from {folder}"
        )


def _load_start(config: RunConfig, resumed: ModelFolder | None) -> LoadedModel | None:
    """The model that a run starts from, or, once it has begun, its own; None where it starts from no model.

    Raises:
        FolderError: it cannot be read, or is for another task.
    """
    if not config.training.start_from:
        return None
    try:
        if resumed is not None:
            return resumed.load("last")
        return ModelFolder(config.training.start_from).load(task=config.task)
    except FolderError as error:
        raise FolderError(f"training.start_from: {error}") from error


class _Run:
    """One session of training in a folder that no other process writes to.

    Args:
        folder: of the model.
        config: the whole run.
        train: the training examples; None reads the files of ``config.data``.
        valid: the validation examples, in the same way.
        listener: called with every event.
        fabric: from `build_fabric`.
        processes: those that train together.
        resumed: whether the run began in an earlier session.
    """

    def __init__(
        self,
        folder: ModelFolder,
        config: RunConfig,
        train: Sequence[Any] | None,
        valid: Sequence[Any] | None,
        listener: Listener,
        fabric: Any,
        processes: Processes,
        *,
        resumed: bool,
    ) -> None:
        self._folder, self._config, self._listener = folder, config, listener
        self._fabric, self._processes = fabric, processes
        times = ProcessorTimes.read()
        start = _load_start(config, folder if resumed else None)
        known = None
        if start is not None:
            known = Vocabulary(start.tokenizers, start.labels, config.training.extend_vocabulary)
        self._task = TASKS[config.task].task(config, train, valid, known)
        self._task.processes = processes
        self._task.tell = lambda text: listener(Note(text))
        self._task.begun = processes.on_first(lambda: folder.sizes) if resumed else None
        self._data = fingerprint(config.data.to_mapping(), train, valid)
        refuse_unlike_data(processes.gather(self._data))
        if processes.world_size > 1:
            first = processes.broadcast(self._task.tokenizers)
            refuse_other_vocabularies(first, self._task.tokenizers, "process 0", str(processes))
        torch.manual_seed(config.training.seed)
        self._task.build()
        if start is not None and not resumed:
            copy_trained(start.model, self._task.model)
            self._task.notes += (f"starts from the weights of {config.training.start_from}",)
        self._without_c = load().reason if self._fabric.device.type == "cpu" else ""
        self._threads = processes.on_first(lambda: self._choose_threads(times, resumed=resumed))
        self._notify()

    def _choose_threads(self, times: ProcessorTimes, *, resumed: bool) -> ThreadChoice:
        """The number of threads; a resumed run has that of its last session, so that its weights are the same."""
        by_hand = self._config.training.threads
        if resumed and not by_hand:
            return ThreadChoice(
                read_run(self._folder.path)["sessions"][-1]["threads"], "as before it was stopped"
            )
        if self._fabric.device.type != "cpu":
            return ThreadChoice(by_hand or torch.get_num_threads(), "")
        return threads_for_training(by_hand, self._task.model.num_parameters, times)

    def _notify(self) -> None:
        """Say what is trained, and on what."""
        task, notify = self._task, self._listener
        for note in task.notes:
            notify(Note(note))
        num_decoded = _num_decoded(task)
        decoded = f" ({num_decoded:,} of them decoded)" if num_decoded not in (None, task.num_valid) else ""
        vocabularies = " and ".join(f"{tokenizer.size:,}" for tokenizer in task.tokenizers.values())
        notify(
            Note(
                f"{task.num_train:,} training {task.examples}, {task.num_valid:,} for validation{decoded}; "
                f"{'vocabularies' if len(task.tokenizers) > 1 else 'a vocabulary'} of {vocabularies}; "
                f"{task.model.num_parameters:,} parameters"
            )
        )
        if self._processes.world_size > 1:
            notify(Note(f"training with {self._processes.world_size} processes, which share each batch"))
        if self._fabric.device.type == "cpu":
            notify(Note(f"training with {self._threads}"))
            if self._threads.number > 1 and spins_long():
                notify(
                    Note(
                        "torch was imported before regard, so threads that wait keep other programs from the "
                        "processors; to avoid this, import regard first"
                    )
                )
        if self._without_c:
            notify(Note(f"training without the kernels in C, up to twice as slowly: {self._without_c}"))

    def create(self, plan: Sequence[str]) -> None:
        """Begin a run: write all that does not change while it lasts."""
        task = self._task
        self._folder.create(
            task.name, task.model.config, task.tokenizers, sizes=task.sizes, labels=task.labels
        )
        write_options(self._folder.path, self._config, plan)
        write_run(self._folder.path, self._data, [self._describe_session(0)])

    def _describe_session(self, update: int) -> dict[str, Any]:
        return describe_session(update, self._fabric.device, self._threads.number, self._processes.world_size)

    def go_on(self, checkpoint: Checkpoint) -> None:
        """Go on with a run: check that it is the same, and take its weights.

        Raises:
            RegardError: the data or their tokenizers are not those it began with.
        """
        path, update = self._folder.path, checkpoint.state.updates
        refuse_other_data(path, self._data)
        refuse_other_vocabularies(
            self._folder.tokenizers,
            self._task.tokenizers,
            f"the run in {path}",
            "the tokenizers of these data",
        )
        checkpoint.fill(self._task.model)
        sessions = read_run(path)["sessions"]
        session = self._describe_session(update)
        self._listener(Note(f"resumed after update {update:,}"))
        if changed := differences(sessions[-1], session):
            self._listener(
                Note(
                    f"the weights may differ in their last digits from an unbroken run's: {'; '.join(changed)}"
                )
            )
        before, now = sessions[-1].get("processes", 1), session["processes"]
        if before != now:
            note = f"processes: {before} before, {now} now; dropout goes on with other random numbers"
            self._listener(Note(note))
        comments = [line[2:] for line in _first_comments(path / "train.toml")]
        write_options(path, self._config, comments)
        write_run(path, self._data, [*sessions, session])
        remove_file(path / "report.json")  # which says that a run is finished

    def train(self, checkpoints: Checkpoints, state: TrainingState | None) -> TrainedRun:
        """Train to the end, from a state where there is one."""
        task, training, path = self._task, self._config.training, self._folder.path
        num_threads, processes = self._threads.number, self._processes
        logged = path if processes.is_first else None
        with TrainingLog(logged, training.tensorboard, state) as log, threads_set_to(num_threads):
            versions = {"regard": __version__, "torch": torch.__version__}
            if state is None:
                log.write(
                    "start",
                    0,
                    **versions,
                    notes=list(task.notes),
                    without_c=self._without_c,
                    threads=num_threads,
                    num_valid=task.num_valid,
                    examples=task.examples,
                    num_decoded=_num_decoded(task),
                )
            else:
                log.write("resume", state.updates, **versions)
            loop = Loop(task, training, checkpoints, log, self._listener, self._fabric, state, processes)
            result = loop.run()
            log.write("end", result.updates, seconds=round(result.seconds, 3), stopped=result.stopped)
        report = _report(result, task, num_threads, processes.world_size)
        if processes.is_first:
            write_report_json(path, report)
        return TrainedRun(path, result, report, scored_on(task))

    def write_page(self, trained: TrainedRun, command: str) -> None:
        """Write the report page."""
        write_page(
            trained.folder,
            lambda: _page(trained, self._task, self._fabric.device.type, command),
            self._listener,
        )


def _first_comments(path: Path) -> list[str]:
    """The comments at the beginning of a configuration file: the plan that led to it."""
    return list(takewhile(lambda line: line.startswith("# "), path.read_text(encoding="utf-8").splitlines()))


def _num_decoded(task: Task) -> int | None:
    """How many validation examples BLEU and the like are computed on; None for a task that generates no text."""
    generates = any(isinstance(METRICS.get(key), TextMetric) for key in task.config.selections())
    return min(task.config.training.validation_sentences, task.num_valid) if generates else None


def write_options(folder: Path, config: RunConfig, comments: Sequence[str]) -> None:
    """Write ``train.toml``: a run's configuration, below comments on it."""
    text = "".join(f"# {line}\n" for line in comments) + write_toml(config.to_mapping())
    write_whole_text(folder / "train.toml", text)


def scored_on(task: Task) -> str:
    """The validation examples behind a run's scores, in words."""
    num_decoded = _num_decoded(task)
    decoded = "" if num_decoded in (None, task.num_valid) else f" (its output on the first {num_decoded:,})"
    return f"{task.num_valid:,} validation {task.examples}{decoded}"


def write_page(folder: Path, page: Callable[[], Report], listener: Listener) -> None:
    """Write the report page; a failure is a note, for the run is complete and saved.

    Args:
        folder: of the run.
        page: makes what is on the page.
        listener: is given the note.
    """
    try:
        write_report(folder / PAGE, page())
    except Exception as error:
        listener(Note(f"{folder / PAGE} was not written: {error}"))


def _page(trained: TrainedRun, task: Task, device: str, command: str) -> Report:
    """The scores of the best validation, the curves, and examples of the best weights."""
    folder, report = trained.folder, trained.report
    select = report["select"]
    return Report(
        title=folder.resolve().name,
        subtitle=(
            f"Trained for {TASKS[task.name].purpose} on {task.num_train:,} {task.examples}. The scores are of "
            f"update {report['best_update']:,}, the best by {display_name(select)}, on {trained.scored_on}."
        ),
        command=command,
        scores={select: report["validation"][select]} | report["validation"],
        log=read_log(folder),
        shown=task.show(TASKS[task.name].predictor().load(folder, device=device)),
        details={name: value for name, value in report.items() if name != "validation"},
    )


def _report(result: LoopResult, task: Task, num_threads: int, num_processes: int) -> dict[str, Any]:
    """What ``report.json`` says of a run."""
    num_decoded = _num_decoded(task)
    return {
        "task": task.name,
        "train_seconds": round(result.seconds, 3),
        "updates": result.updates,
        "epochs": round(result.epochs, 4),
        "tokens_per_second": round(result.tokens_per_second, 1),
        "stopped": result.stopped,
        "threads": num_threads,
        **({"processes": num_processes} if num_processes > 1 else {}),
        **({"skipped_updates": result.skipped} if result.skipped else {}),
        "select": task.config.training.select,
        "best_update": result.best_update,
        "num_parameters": task.model.num_parameters,
        f"num_train_{task.examples}": task.num_train,
        f"num_valid_{task.examples}": task.num_valid,
        **({} if num_decoded is None else {f"num_decoded_{task.examples}": num_decoded}),
        "validation": result.best.to_json(),
    }
