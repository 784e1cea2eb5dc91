"""From a preset, a file and flags to one run's configuration.

In: layers of plain options, as TOML files have them. Out: a `RunConfig` of the task. Which options an alternative has
is defined by its configuration class; this module knows no task, and of the options only ``task`` and ``preset``.
"""

from collections.abc import Callable, Mapping
from typing import Any

from regard.config import one_of
from regard.errors import ConfigError
from regard.tasks import TASKS, Preset
from regard.tasks.config import RunConfig

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


def configure(*layers: Mapping[str, Any], preset: str | None = None) -> RunConfig:
    """Build a run's configuration: a preset, with layers laid over it in turn.

    A layer may choose another kind of decoder, another energy and so on: options of the layers below it that this
    choice does not have are then dropped; see `Config.overlay`.

    Args:
        layers: mappings as a TOML file gives them; the last one wins. A layer may name the ``preset`` and the ``task``.
        preset: the starting point; by default the one a layer names, or else the task's own.

    Raises:
        ConfigError: an unknown preset, option or value, or a preset that is another task's.
    """
    task, chosen = find_task(*layers, preset=preset)
    run_config = TASKS[task].run_config()
    options: dict[str, Any] = {}
    for layer in layers:
        options = run_config.overlay(options, layer)
    merged = run_config.overlay(PRESETS[chosen](), options)
    return run_config.from_mapping({k: v for k, v in merged.items() if k not in ("task", "preset")}, "")
