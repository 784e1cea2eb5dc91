"""From a preset or a plan, a file and flags to one run's configuration.

In: layers of plain options, as TOML files have them, and the data where a run is planned from them. Out: a `RunConfig`
of the task. Which options an alternative has is defined by its configuration class; this module knows no task, and of
the options only ``task``, ``preset``, the files and the limits of a run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from regard.batches.store import Store, is_store
from regard.checkpoint import ModelFolder, read_options
from regard.config import Config, flatten, merge, one_of
from regard.device import allowed_processors, find_device
from regard.errors import ConfigError, FolderError
from regard.tasks import TASKS, Preset
from regard.tasks.config import RunConfig
from regard.tasks.plan import FLOPS_PER_CORE, Budget, Plan
from regard.tasks.preparation import StoreFacts
from regard.tasks.recognize import Recognized, are_read_once, recognize_task

PRESETS: dict[str, Callable[[], Preset]] = {
    name: preset for task in TASKS.values() for name, preset in task.presets().items()
}
"""Every task's presets by name."""


def find_task(*layers: Mapping[str, Any], preset: str | None = None) -> tuple[str, str]:
    """Find which task and which preset the layers of a configuration name.

    Args:
        layers: as `configure` takes them.
        preset: as `configure` takes it.

    Returns:
        The task's name and the preset's.

    Raises:
        ConfigError: one of them is unknown, or the preset is another task's.
    """
    named = {key: layer[key] for layer in layers for key in ("task", "preset") if key in layer}
    task = named.get("task")
    if task is not None:
        one_of("task", task, TASKS)
    chosen = preset or named.get("preset") or TASKS[task or next(iter(TASKS))].default_preset
    one_of("preset", chosen, PRESETS)
    owner = next(spec.name for spec in TASKS.values() if chosen in spec.presets())
    if task not in (None, owner):
        raise ConfigError(
            f"preset {chosen!r} is for the task {owner!r}, and the task is {task!r}; "
            f"choose {' or '.join(TASKS[task].presets())}"
        )
    return owner, chosen


def configure(
    *layers: Mapping[str, Any], preset: str | None = None, plan: Mapping[str, Any] | None = None
) -> RunConfig:
    """Build a run's configuration: a preset, with layers laid over it in turn.

    A layer may choose another kind of decoder, another energy and so on: options of the layers below it that this
    choice does not have are then dropped; see `Config.overlay`.

    Args:
        layers: mappings as a TOML file gives them; the last one wins. A layer may name the ``preset`` and the ``task``.
        preset: the starting point; by default the one a layer names, or else the task's own.
        plan: the starting point in place of a preset, a plan's options.

    Raises:
        ConfigError: an unknown preset, option or value, or a preset that is another task's.
    """
    task, chosen = find_task(*layers, preset=preset)
    run_config = TASKS[task].run_config()
    options: dict[str, Any] = {}
    for layer in layers:
        options = run_config.overlay(options, layer)
    merged = run_config.overlay(PRESETS[chosen]() if plan is None else plan, options)
    return run_config.from_mapping({k: v for k, v in merged.items() if k not in ("task", "preset")}, "")


_GPU_FLOPS = 2e12
"""Of a GPU with models of this size, which never fill it: only a bound for what fits a budget."""


@dataclass(frozen=True)
class PlannedRun:
    """A run's configuration, and how it came about.

    Attributes:
        config: the whole configuration.
        plan: None where a preset was named, or everything was given by hand.
        lines: the plan in words, without what was given by hand.
    """

    config: RunConfig
    plan: Plan | None = None
    lines: tuple[str, ...] = ()


def plan_run(
    *layers: Mapping[str, Any],
    preset: str | None = None,
    train: Sequence[Any] | None = None,
    valid: Sequence[Any] | None = None,
    budget: float | None = None,
    begun: Mapping[str, Any] | None = None,
) -> PlannedRun:
    """Build a run's configuration from its data: a plan, with layers laid over it in turn.

    With a preset, the preset is the starting point instead, as in `configure`. Without a task, the files say which it
    is. Where the layers leave nothing to decide, as a run's own ``train.toml`` does, there is no plan.

    Args:
        layers: as `configure` takes them; everything in them wins over the plan.
        preset: as `configure` takes it.
        train: the training examples; None reads the files that a layer names.
        valid: the validation examples, in the same way.
        budget: the minutes there are for training; None for as many as the plan takes.
        begun: the configuration of a run that is resumed, from `begun_options`: the layers are laid over it, and
            nothing is planned.

    Raises:
        ConfigError: as `configure`; or a budget beside a preset, or one that is not above 0.
        DataError: the data cannot be read, or do not say for which task they are.
    """
    if begun:
        return PlannedRun(configure(begun, *layers))
    if budget is not None and not budget > 0:
        raise ConfigError(f"--budget {budget:g}: give the minutes there are, more than 0")
    given = merge(*layers)
    training = given.get("training")
    if isinstance(training, Mapping) and (start := training.get("start_from")):
        is_named = preset or "preset" in given or "task" in given
        trained = _options_of(ModelFolder(start), find_task(*layers, preset=preset)[0] if is_named else None)
        layers, given = (trained, *layers), merge(trained, given)
    named_data = given.get("data")
    is_named = isinstance(named_data, Mapping) and train is None
    prepared = _prepared_options(_files(named_data or {}, "train") if is_named else [])
    if prepared is not None:
        layers, given = (prepared.options, *layers), merge(prepared.options, given)
    if preset or "preset" in given:
        if budget is not None:
            raise ConfigError(
                f"--budget {budget:g} fits a plan to the time, and the preset {preset or given['preset']!r} is not "
                "planned; leave the preset out, or limit the time with --minutes"
            )
        return PlannedRun(configure(*layers, preset=preset))
    tables = [given.get(name, {}) for name in ("data", "tokenizer", "model", "training")]
    if any(not isinstance(table, Mapping) for table in tables) or (
        train is None and not tables[0].get("train")
    ):
        return PlannedRun(configure(*layers))  # which says what is wrong
    if prepared is not None:
        limit = {} if budget is None else {"training": {"max_minutes": budget}}
        return PlannedRun(
            configure(limit, *layers, plan=_limited(prepared.plan, given)), lines=prepared.lines
        )
    files = _files(tables[0], "train") + _files(tables[0], "valid")
    limit = {} if budget is None else {"training": {"max_minutes": budget}}
    if are_read_once(files):
        default = find_task(*layers)[1]
        note = f"no plan: standard input and pipes can be read only once; the preset {default} is used"
        return PlannedRun(configure(limit, *layers), lines=(note,))
    recognized = recognize(*layers, in_files=train is None)
    layers = (recognized.options, *layers)
    task = recognized.task
    run_config = TASKS[task].run_config()
    whole = run_config.overlay(recognized.options, given)
    data: Config = run_config.tables()["data"].from_mapping(whole.get("data", {}), "data")
    plan = TASKS[task].plan_run(data, train, valid, whole, _budget(budget, given))
    named = {"task": task}
    if plan is None:
        return PlannedRun(configure(named, limit, *layers))
    options = _limited(plan.options, given)
    config = configure(named, *layers, plan=options)
    merged = run_config.overlay(options, given)
    if flatten(merged).keys() <= flatten(given).keys():
        return PlannedRun(config)
    lines = plan.lines(given, merged)
    if recognized.reason:
        lines.insert(1, f"  task: {task} ({recognized.reason})")
    return PlannedRun(config, plan, tuple(lines))


def _limited(plan: Mapping[str, Any], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """A plan's options, without its number of updates where a number of epochs is given."""
    by_hand = given.get("training", {})
    if "max_epochs" in by_hand and "max_updates" not in by_hand:
        return merge(plan, {"training": {"max_updates": 0}})
    return plan


class _PreparedOptions(NamedTuple):
    """What a store says of a run: the options that its ids depend on, and the rest of the plan."""

    options: Mapping[str, Any]
    plan: Mapping[str, Any]
    lines: tuple[str, ...]


def _prepared_options(files: Sequence[str]) -> _PreparedOptions | None:
    """The options of the store that is named as training data; None where none is.

    Raises:
        DataError: the store is damaged.
    """
    if not any(map(is_store, files)):
        return None
    store: Store[Any] = Store(next(filter(is_store, files)), tuple)
    facts = StoreFacts.of(store)
    one_of("task", facts.task, TASKS)
    fixed = {"task": facts.task, "tokenizer": facts.tokenizer, "data": facts.data}
    return _PreparedOptions(fixed, facts.plan, tuple(facts.lines))


def begun_options(folder: Path) -> dict[str, Any]:
    """The configuration of the run that has begun in a folder; empty where none has.

    Raises:
        ConfigError: it cannot be read.
        FolderError: the folder is damaged or newer than this package.
    """
    path = folder / "train.toml"
    return read_options(path) if path.exists() else {}


def _options_of(folder: ModelFolder, task: str | None) -> dict[str, Any]:
    """The task, model and tokenizer of the model that a run starts from, as a layer of options.

    Args:
        folder: of the model.
        task: what it must be for; None for anything.

    Raises:
        FolderError: the folder cannot be used.
    """
    try:
        loaded = folder.load(task=task)
    except FolderError as error:
        raise FolderError(f"training.start_from: {error}") from error
    tokenizer = {key: table for key, table in begun_options(folder.path).items() if key == "tokenizer"}
    return {"task": loaded.task, "model": loaded.model.config.to_mapping(), **tokenizer}


def recognize(*layers: Mapping[str, Any], preset: str | None = None, in_files: bool = True) -> Recognized:
    """Find the task of a run: the one that is named, or that of the named preset, or what the training files say.

    Args:
        layers: as `configure` takes them.
        preset: as `configure` takes it.
        in_files: whether the examples are in files, and not given.

    Raises:
        ConfigError: an unknown task or preset.
        DataError: the files do not say it.
    """
    given = merge(*layers)
    data = given.get("data", {})
    files = _files(data, "train")
    if preset or "preset" in given or "task" in given or not files or not in_files:
        return Recognized(find_task(*layers, preset=preset)[0], "")
    columns = data.get("columns") or ()
    if not isinstance(columns, list | tuple) or not all(isinstance(column, str | int) for column in columns):
        return Recognized(find_task(*layers)[0], "")  # whose configuration says what is wrong
    return recognize_task(files, columns=columns, features=bool(data.get("features")))


def _files(data: Mapping[str, Any], split: str) -> list[str]:
    """The files of a split, as one name or a list of them."""
    files = data.get(split) or []
    if isinstance(files, list | tuple):
        return [str(name) for name in files]
    return [files] if isinstance(files, str) else []


def _budget(minutes: float | None, given: Mapping[str, Any]) -> Budget | None:
    if minutes is None:
        return None
    device = find_device(given.get("training", {}).get("device", "auto"))
    return Budget(minutes, _GPU_FLOPS if device == "cuda" else FLOPS_PER_CORE * allowed_processors())
