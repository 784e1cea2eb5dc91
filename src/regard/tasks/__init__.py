"""The tasks a model can be trained for.

One of one's own takes a folder here with its `Task` and the line below, and beside it, each under the task's name:

- the model, and how it is built: `models.MODELS`; what it is for, in words: `folder.VERBS`
- its run: a file in `training.config` and a line in `RunConfig.variants`; a preset, and `presets.DEFAULTS`
- what its validation counts, in words: `output.wording`
- the object through which it is used, as `translator.Translator` is, and a verb for it in `cli.app`
- how the command line evaluates it and what it tries first: `cli.evaluations` (two tables), `cli.train`
- a world to demonstrate it, where there is one: `worlds`, `training.demos`, and two tables of `cli.demo`

A test holds the tables together: the one that is missing is named.
"""

from collections.abc import Callable, Mapping
from typing import Any

from regard.config import Config
from regard.tasks.base import Task, TrainingBatch, Validation
from regard.tasks.caption.config import CaptionRun
from regard.tasks.caption.task import CaptionTask
from regard.tasks.classify.config import ClassifyRun
from regard.tasks.classify.task import ClassifyTask
from regard.tasks.config import RunConfig
from regard.tasks.language_model.config import LanguageModelRun
from regard.tasks.language_model.task import LanguageModelTask
from regard.tasks.tag.config import TagRun
from regard.tasks.tag.task import TagTask
from regard.tasks.translate.config import TranslateRun
from regard.tasks.translate.task import TranslateTask

RunConfig.variants: Mapping[str, type[Config]] = {  # type: ignore[misc]
    "translate": TranslateRun,
    "language_model": LanguageModelRun,
    "classify": ClassifyRun,
    "tag": TagRun,
    "caption": CaptionRun,
}

TASKS: dict[str, Callable[..., Task]] = {
    "translate": TranslateTask,
    "language_model": LanguageModelTask,
    "caption": CaptionTask,
    "classify": ClassifyTask,
    "tag": TagTask,
}
"""By name: (the run's configuration, examples to learn from or None for files, those to validate with) → the task."""

__all__ = ["TASKS", "Task", "TrainingBatch", "Validation", "prepare_task"]


def prepare_task(config: Any, train: Any, valid: Any) -> Task:
    """Read and prepare the data of a run.

    Args:
        config: the whole run, of the task's own kind.
        train: the examples to learn from; None reads the files of ``config.data``.
        valid: the examples to validate with, likewise.

    Raises:
        RegardError: the data or the configuration cannot be used.
    """
    return TASKS[config.kind](config, train, valid)
