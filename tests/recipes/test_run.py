"""Which commands a recipe runs, in which order and with which arguments; the commands themselves are scripted."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import regard.recipes.run as module
from regard.errors import DataError
from regard.recipes import Arm, Corpus, Pretraining, Recipe, RecipeOptions, Results, choose_arms, run_recipe
from regard.recipes.results import ENSEMBLE


def corpus(data, made):
    del made
    return Corpus([data / "train.tsv"], [data / "valid.tsv"], {"test": [data / "test.tsv"]})


def folds(data, made):
    del made
    return [Corpus([data / f"train-{k}.tsv"], [], {"test": [data / f"test-{k}.tsv"]}) for k in (1, 2, 3)]


def recipe(*arms):
    return Recipe(name="toy", title="toy", conditions="none", metric="wer", arms=arms)


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    names = ["train", "valid", "test", *(f"{part}-{k}" for part in ("train", "test") for k in (1, 2, 3))]
    for name in names:
        (folder / f"{name}.tsv").write_text("a\tb\n")
    return folder


@pytest.fixture
def scripted(monkeypatch):
    """Commands that write what the real ones would; the list of them, in order."""
    heard = []
    session = {
        "started": "2026-01-02T03:04:05+00:00",
        "update": 0,
        "command": "",
        "machine": "m",
        "device": "cpu",
        "threads": 1,
        "processes": 1,
        "versions": {"torch": "2.11"},
    }

    def run(arguments, options, task="translate"):
        heard.append(list(arguments))
        if arguments[0] == "evaluate":
            return json.dumps({"wer": 0.25, "other": 1})
        folder = Path(arguments[1])
        folder.mkdir(parents=True, exist_ok=True)
        report = {"task": run.task, "select": "loss", "train_seconds": 90, "num_parameters": 7}
        report |= {"validation": {"loss": 1.0}, "ensemble": {"loss": 0.5}}
        (folder / "report.json").write_text(json.dumps(report))
        (folder / "run.json").write_text(json.dumps({"data": {}, "sessions": [session]}))
        rows = [{"event": "train", "update": 1, "loss": 3.0}]
        rows += [{"event": "validation", "update": 5, "seconds": 30.0, "loss": 2.0}]
        rows += [{"event": "validation", "update": 5, "seconds": 40.0, "loss": 1.0, "averaged": [1, 5]}]
        (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return ""

    run.task, run.heard = "translate", heard
    monkeypatch.setattr(module, "_run", run)
    return run


def trained(scripted):
    return [command for command in scripted.heard if command[0] == "train"]


def after(command, flag):
    return [command[k + 1] for k, word in enumerate(command) if word == flag]


def test_a_language_model_is_trained_once_and_before_all_that_start_from_it(tmp_path, data, scripted):
    first = Pretraining(name="lm", corpus=corpus, config={"task": "language_model"})
    arms = [Arm(name=name, corpus=corpus, pretraining=first) for name in ("a", "b")]
    said = []
    options = RecipeOptions(
        data, tmp_path / "out", seeds=2, jobs=2, assignments=["training.clip=3"], listener=said.append
    )
    run_recipe(recipe(*arms), options)
    assert said == []  # nor is it tried again
    folders = [command[1] for command in trained(scripted)]
    assert folders[0] == str(tmp_path / "out" / "lm")
    assert folders.count(folders[0]) == 1
    assert len(folders) == 1 + 2 * 3
    assert "training.clip=3" not in scripted.heard[0]
    for command in trained(scripted)[1:]:
        assert f'pretrained.encoder="{tmp_path / "out" / "lm"}"' in after(command, "--set")
        assert "training.clip=3" in command


def test_an_arm_can_score_the_models_of_another_in_another_way(tmp_path, data, scripted):
    first = Arm(name="first", corpus=corpus, evaluate=("--beam", "3"))
    second = replace(first, name="second", models_of=first, evaluate=("--beam", "7"))
    said = []
    options = RecipeOptions(data, tmp_path / "out", seeds=1, listener=said.append)
    results = run_recipe(recipe(first, second), options)
    assert said == []  # nor are they tried again
    assert [command[1] for command in trained(scripted)] == [str(tmp_path / "out" / "first" / "seed-1")]
    scored = [command for command in scripted.heard if command[0] == "evaluate"]
    assert sorted(after(command, "--beam")[0] for command in scored) == ["3", "7"]
    assert {command[1] for command in scored} == {str(tmp_path / "out" / "first" / "seed-1")}
    assert [row.arm for row in results.rows] == ["first", "second"]
    # alone, it needs the models all the same
    scripted.heard.clear()
    run_recipe(recipe(second), RecipeOptions(data, tmp_path / "other", seeds=1))
    assert [command[1] for command in trained(scripted)] == [str(tmp_path / "other" / "first" / "seed-1")]


def test_every_fold_is_tested_by_a_model_that_has_not_seen_it(tmp_path, data, scripted):
    arm = Arm(name="a", corpus=folds)
    results = run_recipe(recipe(arm), RecipeOptions(data, tmp_path / "out", seeds=3))
    assert [Path(after(command, "--train")[0]).name for command in trained(scripted)] == [
        *("train-1.tsv", "train-2.tsv", "train-3.tsv")
    ]
    scored = [command for command in scripted.heard if command[0] == "evaluate"]
    assert [(Path(command[1]).name, Path(command[2]).name) for command in scored] == [
        (f"seed-{k}", f"test-{k}.tsv") for k in (1, 2, 3)
    ]
    assert ENSEMBLE not in [row.model for row in results.rows]


def test_there_are_ensembles_only_where_the_task_has_them(tmp_path, data, scripted):
    arm = Arm(name="a", corpus=corpus)
    models = [row.model for row in run_recipe(recipe(arm), RecipeOptions(data, tmp_path / "1", seeds=2)).rows]
    assert models == ["seed-1", "seed-2", ENSEMBLE]
    scripted.task = "language_model"
    models = [row.model for row in run_recipe(recipe(arm), RecipeOptions(data, tmp_path / "2", seeds=2)).rows]
    assert models == ["seed-1", "seed-2"]
    assert not any("--seeds" in command for command in trained(scripted)[3:])


def test_results_say_how_they_came_about_and_arms_are_added_to_those_before(tmp_path, data, scripted):
    whole = recipe(Arm(name="a", corpus=corpus), Arm(name="b", corpus=corpus))
    options = RecipeOptions(data, tmp_path / "out", seeds=2, commit="abc", assignments=["training.clip=3"])
    for name in ("b", "a"):
        now = run_recipe(choose_arms(whole, [name]), options)
        assert list(now.arms) == [name]
    results = Results.read(tmp_path / "out" / "results.json", "toy")
    assert set(results.arms) == {"a", "b"}
    measured = results.arms["a"]
    assert measured.command == "regard recipe toy --data DATA --only a --seeds 2 --set training.clip=3"
    assert (measured.commit, measured.threads, measured.torch, measured.date) == (
        "abc",
        1,
        "2.11",
        "2026-01-02",
    )
    assert measured.assignments == ["training.clip=3"]
    assert "core" in measured.hardware
    (row, *_) = measured.rows
    assert (row.minutes, row.select, row.tests) == (1.5, "loss", {"test": {"wer": 0.25}})
    assert [(point.update, point.minutes, point.score) for point in row.curve] == [(5, 0.5, 2.0)]


def test_other_files_are_not_results(tmp_path):
    path = tmp_path / "results.json"
    assert Results.read(path, "toy").rows == []
    path.write_text("[]")
    with pytest.raises(DataError, match=r"results\.json: not a file of results"):
        Results.read(path, "toy")
    Results("other").write(path)
    with pytest.raises(DataError, match="the results of other, and not of toy"):
        Results.read(path, "toy")


def test_the_commit_is_that_of_the_checkout(monkeypatch):
    commit = module.checked_out_commit()
    assert commit == "" or len(commit.rstrip("+")) >= 10
    monkeypatch.setenv("PATH", "")
    assert module.checked_out_commit() == ""
