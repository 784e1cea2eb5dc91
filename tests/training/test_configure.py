"""A run's configuration from its data: the plan below, everything given by hand above it."""

import os

import pytest

from regard.errors import ConfigError, DataError
from regard.training.configure import configure, plan_run, recognize

PAIRS = [(f"wort{k}", f"word{k}") for k in range(60)]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS))
    return str(path)


def test_files_and_examples_have_the_same_plan(file):
    named = plan_run({"data": {"train": [file]}})
    given = plan_run(train=PAIRS)
    assert named.plan == given.plan
    assert named.config.model == given.config.model
    assert plan_run({"data": {"train": file}}).plan == named.plan  # one name, as a file may have it


def test_a_preset_wins_over_the_plan(file):
    for layers, preset in (({}, "characters"), ({"preset": "characters"}, None)):
        planned = plan_run({"data": {"train": [file]}}, layers, preset=preset)
        assert planned.plan is None
        assert planned.lines == ()
        assert planned.config.model == configure(preset="characters").model


def test_layers_win_over_the_plan_in_turn(file):
    low = {"training": {"learning_rate": 0.1, "seed": 3}}
    high = {"training": {"learning_rate": 0.2}}
    training = plan_run({"data": {"train": [file]}}, low, high).config.training
    assert (training.learning_rate, training.seed) == (0.2, 3)


def test_a_whole_configuration_leaves_nothing_to_plan(file):
    first = plan_run({"data": {"train": [file]}})
    again = plan_run(first.config.to_mapping())
    assert again.plan is None
    assert again.config == first.config


def test_other_choices_drop_the_plan_s_options_of_the_ones_they_replace():
    """A hundred pairs are planned with coverage, which a dot energy does not have."""
    planned = plan_run({"model": {"decoder": {"attention": {"energy": "dot"}}}}, train=PAIRS)
    assert planned.plan.options["model"]["decoder"]["attention"]["coverage"]
    assert not planned.config.model.decoder.attention.coverage
    assert plan_run({"model": {"decoder": {"kind": "cho"}}}, train=PAIRS).config.model.decoder.kind == "cho"


def test_a_budget_limits_the_time_and_needs_a_plan(file):
    planned = plan_run({"data": {"train": [file]}}, budget=2)
    assert planned.config.training.max_minutes == 2
    assert any("budget: 2 min" in line for line in planned.lines)
    with pytest.raises(ConfigError, match="--minutes"):
        plan_run({"data": {"train": [file]}}, preset="characters", budget=2)
    with pytest.raises(ConfigError, match="more than 0"):
        plan_run({"data": {"train": [file]}}, budget=-1)


def test_what_can_be_read_once_is_not_planned(tmp_path):
    planned = plan_run({"data": {"train": ["-"]}})
    assert planned.plan is None
    assert "can be read only once; the preset rnnsearch-small" in planned.lines[0]
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # nobody writes: reading would wait for ever
    assert plan_run({"data": {"train": [str(pipe)]}}).plan is None


@pytest.mark.parametrize(
    "layer", [{"training": 3}, {"training": {"max_updates": "many"}}, {"tokenizer": {"source": 3}}]
)
def test_illegal_values_are_the_configuration_s_to_refuse(file, layer):
    with pytest.raises(ConfigError):
        plan_run({"data": {"train": [file]}}, layer)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"none\.tsv: no such file"):
        plan_run({"data": {"train": [str(tmp_path / "none.tsv")]}})


def test_a_named_task_is_not_recognized(file):
    assert recognize({"data": {"train": [file]}}).task == "translate"
    assert recognize({"data": {"train": [file]}}, {"task": "classify"}).task == "classify"
    assert recognize({"data": {"train": [file]}}, preset="tagger").task == "tag"
    assert plan_run({"task": "language_model"}, train=[("a b c",)] * 9).config.task == "language_model"
