"""``regard prepare`` as a user meets it, and training from what it wrote."""

import json

import pytest


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{a} {b}\t{b} {a}\n" for a in "abcdefgh" for b in "stuvwxyz"))
    return path


def test_text_is_prepared_and_trained_from(regard, tmp_path, text):
    store = str(tmp_path / "s")
    ended = regard(
        "prepare", store, "--train", str(text), "--tokenizer", "word", "--vocabulary", "20", "--jobs", "1"
    )
    assert ended.status == 0, ended.err
    assert ended.out.splitlines()[:2] == ["prepared", "read        64"]
    assert (
        f"the store is in {store}; train on it with: regard train MODEL --train {store}"
        in ended.err.replace("\n", " ")
    )
    options = ["--updates", "2", "--set", "model.encoder.state_size=4", "--set", "model.decoder.state_size=4"]
    ended = regard("train", str(tmp_path / "m"), "--train", store, *options, "--json")
    assert ended.status == 0, ended.err
    kept = json.loads((tmp_path / "s" / "report.json").read_text())["kept"]
    assert json.loads(ended.out)["num_train_pairs"] == kept


def test_the_report_is_json(regard, tmp_path, text):
    ended = regard(
        "prepare", str(tmp_path / "s"), "--train", str(text), "--test", str(text), "--jobs", "1", "--json"
    )
    report = json.loads(ended.out)
    assert report["read"] == 64 == report["kept"] + report["validation"]
    assert report["in_tests"] == {str(text): report["kept"]}


def test_errors_have_a_message_and_a_status(regard, tmp_path, text):
    for arguments, message in (
        ([], "no text to prepare"),
        (["--train", str(text), "--weight", "1", "--weight", "2"], "--weight 1.0 2.0: give one number"),
        (["--train", str(tmp_path / "pears.tsv")], "no such file; did you mean"),
        (["--train", str(text), "--task", "tag"], "the task 'tag' has no store"),
        (["--train", str(text), "--set", "data.mode=continuous"], "mode"),
    ):
        ended = regard("prepare", str(tmp_path / "s"), *arguments, "--jobs", "1")
        assert (ended.status, ended.out) == (2, "")
        assert message in " ".join(ended.err.split())
        assert "Traceback" not in ended.err


def test_a_damaged_store_is_refused(regard, tmp_path, text):
    regard("prepare", str(tmp_path / "s"), "--train", str(text), "--jobs", "1")
    (tmp_path / "s" / "valid.jsonl").write_text("{}\n")
    ended = regard("train", str(tmp_path / "m"), "--train", str(tmp_path / "s"))
    assert ended.status == 2
    assert "valid.jsonl: damaged" in " ".join(ended.err.split())
