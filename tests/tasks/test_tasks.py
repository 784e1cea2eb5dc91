"""Every table that lists the tasks lists the same ones, so that none is half there."""

import pytest

from regard.checkpoint import VERBS
from regard.cli.demo.command import _SHOWN, _WRITERS
from regard.cli.evaluations import EVALUATIONS, OPTIONS
from regard.cli.train import _TRY
from regard.models import MODELS
from regard.tasks import TASKS, Task
from regard.tasks.config import RunConfig
from regard.training.presets import DEFAULTS, PRESETS

TABLES = {
    "RunConfig.variants": RunConfig.variants,
    "models.MODELS": MODELS,
    "folder.VERBS": VERBS,
    "presets.DEFAULTS": DEFAULTS,
    "cli.train._TRY": _TRY,
    "cli.evaluations.EVALUATIONS": EVALUATIONS,
    "cli.evaluations.OPTIONS": OPTIONS,
    "cli.demo.verb._SHOWN": _SHOWN,
    "cli.demo.corpus._WRITERS": _WRITERS,
}


@pytest.mark.parametrize("table", TABLES)
def test_every_table_has_every_task(table):
    assert set(TABLES[table]) == set(TASKS)


@pytest.mark.parametrize("name", TASKS)
def test_a_task_goes_by_its_name(name):
    task = TASKS[name]
    assert issubclass(task, Task)
    assert task.name == name
    assert RunConfig.variants[name]().kind == name
    assert PRESETS[DEFAULTS[name]]().get("task", "translate") == name
    assert isinstance(RunConfig.variants[name]().model, MODELS[name].config)
