"""The tasks a model can be trained for: one folder each, and one line in `TASKS`.

Importing this imports no torch; see `TaskSpec` for what a task's folder defines, and docs/extending.md for an example.
"""

from typing import TYPE_CHECKING, Any

from regard.tasks.align import ALIGN
from regard.tasks.caption import CAPTION
from regard.tasks.classify import CLASSIFY
from regard.tasks.language_model import LANGUAGE_MODEL
from regard.tasks.spec import Preset, TaskSpec
from regard.tasks.tag import TAG
from regard.tasks.translate import TRANSLATE

if TYPE_CHECKING:
    from regard.tasks.base import Task

TASKS: dict[str, TaskSpec] = {
    spec.name: spec for spec in (TRANSLATE, LANGUAGE_MODEL, CLASSIFY, TAG, CAPTION, ALIGN)
}
"""By name; the first is the default."""

__all__ = ["TASKS", "Preset", "TaskSpec", "prepare_task"]


def prepare_task(config: Any, train: Any, valid: Any) -> "Task":
    """Read and prepare the data of a run; see `TaskSpec.task`."""
    return TASKS[config.task].task(config, train, valid)
