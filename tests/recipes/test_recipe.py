"""Recipes: what is run, what is not run again, and how results are compared with figures."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import regard.recipes.run as module
from regard.cli.app import app
from regard.config import merge
from regard.errors import ConfigError, DataError, RegardError
from regard.evaluation.metrics import METRICS
from regard.recipes import (
    RECIPES,
    Arm,
    Corpus,
    Figure,
    Measured,
    Recipe,
    RecipeOptions,
    Results,
    Row,
    choose_arms,
    report_json,
    run_recipe,
    summarize,
)
from regard.recipes.results import ENSEMBLE, MEAN
from regard.training.configure import configure

SHARED = Path(os.environ.get("REGARD_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")


def toy(name="toy", **fields):
    def corpus(data, made):
        del made
        return Corpus([data / "train.tsv"], [data / "valid.tsv"], {"test": [data / "test.tsv"]})

    arms = [Arm(name="one", corpus=corpus, figures={"test": [Figure(0.5, "a paper")]})]
    return Recipe(name=name, title="toy", conditions="none", metric="wer", arms=arms, **fields)


def row(arm, model, wer, minutes=1.0):
    return Row(arm, model, {"wer": wer}, {"test": {"wer": wer}}, minutes, 10)


def measurement(rows, **fields):
    given = {"command": "regard recipe toy", "commit": "1234567", "hardware": "a machine", **fields}
    return Measured(rows, threads=1, torch="2", date="2026-01-01", **given)


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    words = ["abc", "bca", "cab", "aab", "bbc", "cca", "acb", "bac", "cba", "abb"]
    for part, count in (("train", 40), ("valid", 6), ("test", 5)):
        lines = [f"{words[k % 10]}\t{words[k % 10].upper()}\n" for k in range(count)]
        (folder / f"{part}.tsv").write_text("".join(lines))
    return folder


def test_seeds_and_ensemble_are_trained_scored_and_not_trained_again(tmp_path, data):
    heard = []
    options = RecipeOptions(
        data, tmp_path / "out", seeds=2, jobs=2, threads=1, smoke=True, listener=heard.append
    )
    rows = run_recipe(toy(), options).rows
    assert [each.model for each in rows] == ["seed-1", "seed-2", ENSEMBLE]
    assert all(each.tests["test"]["wer"] >= 0 for each in rows)
    assert rows[2].num_parameters == 2 * rows[0].num_parameters
    assert Results.read(options.out / "results.json", "toy").rows[2].model == ENSEMBLE
    trained = [line for line in heard if line.startswith("regard train") and "--seeds" not in line]
    assert len(trained) == 2
    heard.clear()
    again = run_recipe(toy(), options).rows
    assert [each.tests for each in again] == [each.tests for each in rows]
    assert sum("not trained again" in line for line in heard) == 2
    assert not any(line.startswith("regard train") and "--seeds" not in line for line in heard)


def test_a_smoke_run_reads_a_few_lines(tmp_path, data, monkeypatch):
    monkeypatch.setattr(module, "_SMOKE_LINES", {"train": 7, "valid": 3, "test": 2})
    options = RecipeOptions(data, tmp_path / "out", seeds=1, smoke=True)
    (corpus,) = module._corpora(toy().arms[0], options)
    lengths = [
        len(path.read_text().splitlines()) for path in (*corpus.train, *corpus.valid, *corpus.tests["test"])
    ]
    assert lengths == [7, 3, 2]
    (whole,) = module._corpora(toy().arms[0], replace(options, smoke=False))
    assert whole.train == [data / "train.tsv"]


def test_configurations_are_files_beside_the_models(tmp_path, data):
    arm = replace(toy().arms[0], config={"training": {"learning_rate": 0.5}}, arguments=("--features", "2"))
    (tmp_path / "out" / "one").mkdir(parents=True)
    options = RecipeOptions(data, tmp_path / "out", seeds=1, assignments=["training.clip=3"], threads=2)
    (corpus,) = module._corpora(arm, options)
    given = module._training_arguments(arm, corpus, options, options.assignments)
    assert given[given.index("--config") + 1] == str(tmp_path / "out" / "one" / "recipe.toml")
    assert "learning_rate = 0.5" in (tmp_path / "out" / "one" / "recipe.toml").read_text()
    assert given[given.index("--features") + 1] == "2"
    assert given[given.index("--threads") + 1] == "2"
    assert given[-1] == "training.clip=3"


def test_missing_data_and_failing_commands(tmp_path, data):
    with pytest.raises(DataError, match=r"none.train\.tsv: no such file; name the folder"):
        run_recipe(toy(), RecipeOptions(tmp_path / "none", tmp_path / "out", seeds=1))
    with pytest.raises(RegardError, match="no option 'learning_rat'"):
        run_recipe(
            toy(), RecipeOptions(data, tmp_path / "out", seeds=1, assignments=["training.learning_rat=1"])
        )


def test_arms_by_name():
    recipe = RECIPES["g2p-2020"]
    assert [arm.name for arm in choose_arms(recipe, ["vie", "ady"]).arms] == ["vie", "ady"]
    assert choose_arms(recipe, []) is recipe
    with pytest.raises(DataError, match="g2p-2020 has no 'vye'; did you mean 'vie'"):
        choose_arms(recipe, ["vye"])


def test_means_deviations_and_figures():
    single, several = Figure(0.2, "one"), Figure(0.1, "five", ensemble=True)
    arms = [replace(toy().arms[0], name=name, figures={"test": [single, several]}) for name in ("a", "b")]
    recipe = replace(toy(), arms=arms, figures=[Figure(0.3, "mean"), several])
    rows = [row("a", "seed-1", 0.1), row("a", "seed-2", 0.3, 3.0), row("a", ENSEMBLE, 0.1)]
    rows += [row("b", "seed-1", 0.3), row("b", "seed-2", 0.7), row("b", ENSEMBLE, 0.2)]
    a, b, mean = summarize(recipe, rows)
    assert (a.arm, a.mean, a.minutes) == ("a", pytest.approx(0.2), 2.0)
    assert a.deviation == pytest.approx(0.1414, abs=1e-4)
    assert [a.reached(figure, "wer") for figure in a.figures] == [True, True]
    assert [b.reached(figure, "wer") for figure in b.figures] == [False, False]
    assert a.reached(Figure(0.21, ""), "exact_match") is False
    assert a.reached(Figure(0.2, ""), "exact_match") is True
    assert (mean.arm, mean.ensemble) == (MEAN, pytest.approx(0.15))
    assert mean.single == pytest.approx([0.2, 0.5])
    assert mean.reached(recipe.figures[0], "wer") is False
    only_a = [row for row in rows if row.arm == "a"]
    assert [line.arm for line in summarize(recipe, only_a)] == ["a"]  # no mean of some of the arms
    assert not choose_arms(recipe, ["a"]).figures
    assert choose_arms(recipe, ["b", "a"]).figures
    without = summarize(recipe, [each for each in rows if each.model != ENSEMBLE])
    assert [line.ensemble for line in without] == [None, None, None]
    assert without[0].reached(several, "wer") is None
    measured = {name: measurement([each for each in rows if each.arm == name]) for name in ("a", "b")}
    assert report_json(recipe, Results("toy", measured))["table"][0]["figures"][1]["reached"] is True


def test_the_command_lists_and_refuses(tmp_path):
    listed = CliRunner().invoke(app, ["recipe"])
    assert all(name in listed.output for name in RECIPES)
    assert "regard recipe NAME --data FOLDER" in listed.output
    for arguments, message in (
        (["inflexion-2016"], "there is no recipe 'inflexion-2016'; did you mean 'inflection-2016'"),
        (["g2p-2020"], "g2p-2020: where are its data sets\\? Name their folder with --data"),
    ):
        refused = CliRunner().invoke(app, ["recipe", *arguments])
        assert isinstance(refused.exception, ConfigError)
        with pytest.raises(ConfigError, match=message):
            raise refused.exception


ARMS = {f"{recipe.name}-{arm.name}": arm for recipe in RECIPES.values() for arm in recipe.arms}


@pytest.mark.parametrize("arm", ARMS.values(), ids=ARMS.keys())
def test_the_options_of_every_arm_exist(arm):
    encoder = {"pretrained": {"encoder": "lm"}} if arm.pretraining is not None else {}
    if arm.config:
        configure(merge(arm.config, encoder))
    if arm.pretraining is not None:
        configure(arm.pretraining.config)


def test_every_metric_and_every_name_is_known_and_unique():
    for recipe in RECIPES.values():
        assert {recipe.metric, *recipe.others} <= METRICS.keys()
        names = [arm.name for arm in recipe.arms]
        assert len(set(names)) == len(names)
        for arm in recipe.arms:
            assert arm.models_of is None or arm.models_of in recipe.arms
            if arm.pretraining is not None:
                assert arm.pretraining.name not in names


needs_data = pytest.mark.skipif(not SHARED.is_dir(), reason="the data sets are not here")


@needs_data
def test_the_files_of_every_arm_are_there(tmp_path):
    """Of those that are made of others, parts share nothing that would give a test example away."""
    for name, arm in ARMS.items():
        made = arm.corpus(SHARED, tmp_path / name)
        corpora = [made] if isinstance(made, Corpus) else made
        for corpus in corpora:
            for path in (
                *corpus.train,
                *corpus.valid,
                *(path for test in corpus.tests.values() for path in test),
            ):
                assert path.is_file(), path
    for name, num_test, sides in (
        ("cmudict-english", 12_000, [0]),
        ("tatoeba-engfra-attention", 2000, [0, 1]),
    ):
        parts = [
            [line.split("\t") for line in (tmp_path / name / f"{part}.tsv").read_text("utf-8").splitlines()]
            for part in ("train", "valid", "test")
        ]
        assert num_test <= len(parts[2]) < 1.02 * num_test
        for side in sides:
            known = [{line[side].lower() for line in part} for part in parts]
            assert sum(map(len, known)) == len(set.union(*known))
    (two,) = [(tmp_path / "sst-two-classes" / "train.tsv").read_text("utf-8").splitlines()]
    assert {line.split("\t")[0] for line in two} == {"0", "1"}


@pytest.mark.journey
@needs_data
@pytest.mark.parametrize("name", RECIPES)
def test_a_slice_of_every_recipe(name, tmp_path):
    recipe = RECIPES[name]
    arguments = ["--data", SHARED, "--smoke", "--seeds", 1, "--threads", 1, "--out", tmp_path / "out"]
    command = ["recipe", name, *map(str, arguments), "--only", recipe.arms[-1].name]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.exception
    assert recipe.arms[-1].name in done.output
    assert len(Results.read(tmp_path / "out" / "results.json", name).rows) == 1
