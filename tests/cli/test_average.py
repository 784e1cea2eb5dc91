import json

from regard.checkpoint import ModelFolder


def test_best_and_last(regard, model, tmp_path):
    ended = regard("average", tmp_path / "mean", model, "--weights", "best", "--weights", "last")
    assert (ended.status, ended.err) == (0, "")
    *parts, last = ended.out.splitlines()
    assert [part.split(": ")[1].split(",")[0] for part in parts] == ["best", "last"]
    assert last.startswith(f"{tmp_path}/mean: the mean of 2 checkpoints of ")
    assert regard("translate", tmp_path / "mean", stdin="a b\n").status == 0
    assert f"the mean of {model} (best), {model} (last)" in regard("show", tmp_path / "mean").out


def test_json(regard, model, tmp_path):
    arguments = ("average", tmp_path / "mean", model, "--weights", "best", "--weights", "last", "--json")
    printed = json.loads(regard(*arguments).out)
    assert printed["averaged"] == ModelFolder(tmp_path / "mean").load().facts["averaged"]


def test_models_that_do_not_go_together(regard, model, fixed_model, tmp_path):
    ended = regard("average", tmp_path / "mean", model, fixed_model)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("error: model.decoder.")
    assert "only models of one architecture have a mean" in ended.err
