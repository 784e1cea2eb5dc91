"""Every task is whole: its words, its classes, its presets and its commands belong together."""

import subprocess
import sys
from pkgutil import resolve_name

import pytest

from regard.config import Config
from regard.tasks import TASKS
from regard.tasks.base import Task
from regard.tasks.config import RunConfig
from regard.tasks.predictor import Predictor
from regard.training.configure import PRESETS, find_task
from regard.training.run import train


@pytest.fixture(params=TASKS.values(), ids=TASKS.keys())
def spec(request):
    return request.param


def test_a_task_goes_by_its_name(spec):
    assert TASKS[spec.name] is spec
    config = spec.run_config()()
    assert isinstance(config, RunConfig)
    assert config.task == spec.name
    assert config.to_mapping()["task"] == spec.name
    assert RunConfig.from_mapping(config.to_mapping(), "") == config


def test_the_model_is_that_of_the_run(spec):
    assert issubclass(spec.model_config(), Config)
    assert type(spec.run_config()().model) is spec.model_config()


def test_presets_are_the_tasks_own(spec):
    assert spec.default_preset in spec.presets()
    for name, preset in spec.presets().items():
        assert PRESETS[name] is preset
        assert find_task(preset=name) == (spec.name, name)
        assert preset().get("task", "translate") == spec.name
    assert set(PRESETS) == {name for other in TASKS.values() for name in other.presets()}


def test_what_it_names_is_there(spec):
    for reference in (
        *(spec.config, spec.network, spec.training, spec.prediction, *spec.commands.values()),
        *(f"{spec.evaluation}:{name}" for name in ("evaluate_files", "write_examples")),
        *(f"{spec.evaluation}:{name}" for name in ("evaluate_examples", "show_demo")),
    ):
        assert callable(resolve_name(reference))
    assert "{folder}" in spec.first_command
    assert spec.first_command.split("regard ")[1].split()[0] in spec.commands
    assert isinstance(eval(spec.example), tuple)


def test_the_prepared_task_has_the_same_name(spec):
    from importlib import import_module

    module = import_module(f"regard.tasks.{spec.name}.task")
    made = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Task)]
    assert [each.name for each in made if each.__module__ == module.__name__] == [spec.name]


DATA = {
    "translate": [("a b", "B A"), ("c", "C")],
    "language_model": [("a b",), ("c",)],
    "classify": [("x", "a b"), ("y", "c")],
    "tag": [("a b", "X Y"), ("c", "X")],
    "caption": [([0.0, 1.0], "a b"), ([1.0, 0.0], "c")],
    "align": [("a b", "B A"), ("c", "C")],
}


@pytest.mark.parametrize("precision", ["32", "bf16"])
def test_every_task_trains_on_its_batches_and_opens_its_folder(spec, precision, tmp_path):
    """Under mixed precision Fabric rebuilds the batch, field by field."""
    training = {
        "max_updates": 2,
        "max_epochs": 0,
        "validate_every": 2,
        "device": "cpu",
        "precision": precision,
    }
    examples = DATA[spec.name] * 4
    train(
        tmp_path / "model", examples, examples, task=spec.name, config={"training": training}, progress=False
    )
    opened = spec.predictor().load(tmp_path / "model")
    assert opened.facts["update"] == 2
    if isinstance(opened, Predictor):
        kind = spec.prediction.split(":")[1]
        number = f"{opened.model.num_parameters:,}"
        assert repr(opened) == f'{kind}(model="{tmp_path}/model", {number} parameters, cpu)'


def test_the_table_is_read_without_torch():
    code = "import regard.tasks, sys; [s.presets() for s in regard.tasks.TASKS.values()]; print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
