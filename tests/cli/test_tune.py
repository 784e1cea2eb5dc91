"""``regard tune`` with real trainings, tiny ones."""

import inspect
import json

import pytest

from regard.cli.run_flags import RunFlags
from regard.cli.train import train
from regard.cli.tune import tune
from regard.config import read_toml, write_toml


@pytest.fixture
def search(regard, data, tiny):
    (data / "tiny.toml").write_text(write_toml(tiny))
    (data / "pairs.tsv").write_text((data / "test.tsv").read_text() * 3)

    def run(*arguments, trials=3):
        return regard(
            *("tune", data / "search", "--config", data / "tiny.toml", "--train", data / "pairs.tsv"),
            *("--trials", trials, "--updates", 6, *arguments),
        )

    return run


VARIED = ("--vary", "training.learning_rate=0.001..0.05")


def test_trials_winner_and_configuration(regard, search, data):
    ended = search(*VARIED)
    assert ended.status == 0, ended.err
    assert "3 trials" in ended.out
    assert "winner" in ended.out
    assert "trial 1, 1/3 of the budget (as it is): BLEU" in ended.err
    assert "3 trials are done; the winner is trial" in ended.err
    report = json.loads((data / "search" / "report.json").read_text())
    assert [trial["updates"] for trial in report["trials"]] == [6, 2, 2, 2]
    assert json.loads(search(*VARIED, "--json").out) == report, "nothing was trained again"
    trained = regard("train", data / "model", "--config", data / "search" / "best.toml")
    assert trained.status == 0, trained.err
    winner = data / "search" / report["winner"]["folder"]
    assert (data / "model" / "last.safetensors").read_bytes() == (winner / "last.safetensors").read_bytes()


def test_the_flags_of_a_training(search, data):
    (data / "pairs.tsv").write_text("a b\tx\tA B\nc\ty\tC\n" * 20)
    ended = search(*VARIED, "--columns", 3, 1, "--tokenizer", "char,word", "--vocabulary", 50, trials=1)
    assert ended.status == 0, ended.err
    best = read_toml(data / "search" / "best.toml")
    assert best["data"]["columns"] == ["3", "1"]
    assert (best["tokenizer"]["source"], best["tokenizer"]["target"]) == ("char", "word")
    assert best["tokenizer"]["source_size"] == 50


def test_train_and_tune_share_their_flags():
    for command in (train, tune):
        parameters = inspect.signature(command).parameters
        assert [name for name in parameters if name in RunFlags.__annotations__] == list(
            RunFlags.__annotations__
        )


def test_errors(search):
    ended = search()
    assert ended.status == 2
    assert "nothing to vary; name an option, as --vary training.learning_rate=0.0005..0.004" in ended.err
    ended = search("--vary", "training.rate=0.1..0.2")
    assert ended.status == 2
    assert "--vary training.rate=0.1..0.2: training: no option 'rate'" in ended.err
