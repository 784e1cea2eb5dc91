import json
import shutil

import pytest

from regard.checkpoint import ModelFolder, read_log
from regard.cli.console import results
from regard.cli.show import _flat
from regard.training.run import train


def test_what_the_model_is(regard, model):
    ended = regard("show", model)
    assert (ended.status, ended.err) == (0, "")
    loaded = ModelFolder(model).load()
    lines = ended.out.splitlines()
    assert lines[0] == str(model)
    for row in (
        ["source tokenizer", "word, 9 tokens"],
        ["parameters", f"{loaded.model.num_parameters:,}"],
        ["kind", "bahdanau"],
        ["bidirectional", "yes"],
        ["attention.size", "8"],
    ):
        assert any(line.split("  ")[0] == row[0] and line.endswith(row[1]) for line in lines), row
    assert f"weights: best, after update {loaded.facts['update']}" in lines


def test_the_score_history_is_the_log(regard, model):
    rows = [row for row in read_log(model) if row["event"] == "validation"]
    assert [row["update"] for row in rows] == [10, 20]
    history = regard("show", model).out.split("score history")[1].splitlines()
    assert "…" not in "".join(history), "no heading is cut off in a pipe"
    for row in rows:
        (line,) = [line for line in history if line.strip().startswith(f"{row['update']} ")]
        assert f"{row['perplexity']:.2f}" in line
        assert line.rstrip().endswith("best") == row["best"]


def test_in_a_narrow_window_the_history_keeps_a_line_a_row(regard, model, monkeypatch):
    monkeypatch.setattr(results, "_width", 50)
    history = regard("show", model).out.split("score history")[1].splitlines()
    rows = [line for line in history if line.strip().startswith(("10 ", "20 "))]
    assert [len(line) <= 50 and "%" in line for line in rows] == [True, True]
    assert history[history.index(rows[1]) + 1].startswith("in a wider window, or with --json: ")


def test_json_carries_the_same(regard, model):
    shown = json.loads(regard("show", model, "--json").out)
    loaded = ModelFolder(model).load()
    assert shown["model"] == loaded.model.config.to_mapping()
    assert shown["sizes"] == {"source": 9, "target": 9}
    assert shown["num_parameters"] == sum(shown["parameters"].values()) == loaded.model.num_parameters
    assert shown["weights"] == {"name": "best", **loaded.facts}
    assert shown["history"] == [row for row in read_log(model) if row["event"] == "validation"]


def test_which_backend_computes_what(regard, model):
    lines = regard("show", model, "--paths").out.splitlines()
    start = lines.index("paths on the CPU")
    rows = {line.split("  ")[0]: line for line in lines[start + 2 :] if line}
    assert "large products in training: C (REGARD_PRODUCTS=C)" in lines
    assert "tensors are on cpu" in rows["attending gru"]
    assert {"gru", "attending gru", "a step of search"} <= rows.keys()
    assert "paths" not in regard("show", model).out
    shown = json.loads(regard("show", model, "--paths", "--json").out)["paths"]
    assert [row["op"] for row in shown] == ["gru", "attending gru", "a step of search"]
    assert shown[-1] == {"op": "a step of search", "backend": "C", "reasons": {}}


def test_the_features_of_a_model_that_takes_some(regard, tmp_path):
    examples = [((stem, f"V;{tense}"), stem + tense[0]) for stem in ("ab", "ba") for tense in ("PRS", "PST")]
    options = {
        "tokenizer": {"source": "char", "target": "char"},
        "training": {"max_updates": 1, "device": "cpu"},
    }
    train(tmp_path / "m", examples, examples, preset="characters", config=options, progress=False)
    shown = regard("show", tmp_path / "m").out
    assert "3: V, PRS, PST" in shown
    assert "split at , ; | or blanks: …⇥V,PRS" in shown
    assert "--column 1 --features 2" in shown
    assert json.loads(regard("show", tmp_path / "m", "--json").out)["features"] == ["V", "PRS", "PST"]


def test_the_last_weights(regard, model):
    assert "weights: last, after update 20" in regard("show", model, "--weights", "last").out


@pytest.mark.parametrize("name", ["[red]folder", "a [b] c"])
def test_a_model_without_a_log_under_an_odd_name(regard, model, tmp_path, name):
    """Brackets in a path are no markup."""
    shutil.copytree(model, tmp_path / name, ignore=shutil.ignore_patterns("log*", "train*", "report*"))
    ended = regard("show", tmp_path / name)
    assert ended.status == 0
    assert ended.out.startswith(f"{tmp_path}/{name}\n")
    assert "history" not in ended.out


def test_the_last_weights_are_offered_where_there_are_no_best(regard, model, tmp_path):
    shutil.copytree(model, tmp_path / "copy")
    (tmp_path / "copy" / "best.safetensors").unlink()
    ended = regard("show", tmp_path / "copy")
    assert ended.status == 2
    assert "there are weights named 'last': choose them with --weights last" in ended.err
    assert regard("show", tmp_path / "copy", "--weights", "last").status == 0


def test_the_history_says_on_how_many_pairs(regard, model):
    assert "score history on 10 validation pairs\n" in regard("show", model).out


def test_a_log_of_an_older_version_does_not_say_how_many(regard, model, tmp_path):
    shutil.copytree(model, tmp_path / "copy")
    log = tmp_path / "copy" / "log.jsonl"
    start, *rest = log.read_text().splitlines()
    old = {key: value for key, value in json.loads(start).items() if not key.startswith("num_")}
    log.write_text("\n".join([json.dumps(old), *rest]) + "\n")
    assert "score history\n" in regard("show", tmp_path / "copy").out


def test_a_damaged_model(regard, model, tmp_path):
    shutil.copytree(model, tmp_path / "copy")
    (tmp_path / "copy" / "best.safetensors").write_bytes(b"rubbish")
    ended = regard("show", tmp_path / "copy")
    assert (ended.status, ended.out) == (2, "")
    assert "best.safetensors: damaged" in ended.err


def test_options_of_tables_in_tables_keep_their_whole_name():
    table = {"cell": "gru", "deep": {"deeper": {"size": 3, "on": True}, "size": 4}}
    assert _flat(table) == {"cell": "gru", "deep.deeper.size": "3", "deep.deeper.on": "yes", "deep.size": "4"}
