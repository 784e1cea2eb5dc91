"""Every task's presets by name."""

from collections.abc import Callable

from regard.tasks import TASKS, Preset

PRESETS: dict[str, Callable[[], Preset]] = {
    name: preset for task in TASKS.values() for name, preset in task.presets().items()
}


def task_of_preset(name: str) -> str:
    """The name of the task that a preset of `PRESETS` belongs to."""
    return next(task.name for task in TASKS.values() if name in task.presets())
