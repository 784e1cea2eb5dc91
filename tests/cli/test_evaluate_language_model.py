"""``regard evaluate`` of a language model: the scores of the predictor, and the options that are refused."""

import json

import pytest

from regard.evaluation.metrics import format_score
from regard.tasks.language_model.predictor import LanguageModel
from regard.training.configure import configure
from regard.training.run import run_training

LINES = ["a b c", "", "c zebra", "a a b"]


@pytest.fixture(scope="module")
def language_model(tmp_path_factory):
    config = {
        "task": "language_model",
        "model": {"embedding_size": 6, "state_size": 6, "dropout": 0.0},
        "training": {"max_updates": 4, "max_epochs": 0.0, "device": "cpu", "batch_sentences": 8},
    }
    folder = tmp_path_factory.mktemp("language_model") / "model"
    run_training(folder, configure(config), train=["a b c", "c b", "a a b"] * 8, valid=["a b"])
    return folder


@pytest.fixture
def text(tmp_path):
    (tmp_path / "test.txt").write_text("".join(f"{line}\n" for line in LINES))
    return tmp_path / "test.txt"


@pytest.mark.parametrize(("flags", "mode"), [((), "sentences"), (("--continuous",), "continuous")])
def test_the_scores_are_the_predictor_s(regard, language_model, text, tmp_path, flags, mode):
    expected = LanguageModel.load(language_model).perplexity(LINES, mode=mode).to_json()
    ended = regard("evaluate", language_model, text, *flags, "--json", "--out", tmp_path / "report")
    assert ended.status == 0
    assert json.loads(ended.out) == pytest.approx(expected)
    assert str(tmp_path / "report" / "report.json") in ended.err.replace("\n", "")
    assert f"1 of {expected['num_tokens']} tokens" in ended.err
    assert f"is unknown to {language_model}" in ended.err.replace("\n", " ")
    assert expected["num_unknown"] == 1
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    assert report["mode"] == mode
    assert report["command"].startswith(f"regard evaluate {language_model} {text}")
    assert {name: report[name] for name in expected} == pytest.approx(expected)
    # a blank line is nothing by itself, and an end of a line in continuous text
    assert expected["num_tokens"] == 11 + (mode == "continuous")
    shown = dict(
        row.split(maxsplit=1) for row in regard("evaluate", language_model, text, *flags).out.splitlines()
    )
    assert shown == {name: format_score(name, value) for name, value in expected.items()}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--max-length", "3"), "--max-length applies to a model for translating"),
        (("--beam", "2"), "--beam applies to a model for translating"),
        (("other.txt",), "a second file (other.txt) applies to a model for translating"),
    ],
)
def test_what_is_another_task_s(regard, language_model, text, arguments, message):
    ended = regard("evaluate", language_model, text, *arguments)
    assert (ended.status, ended.out) == (2, "")
    assert message in ended.err
    assert "leave it out" in ended.err


def test_continuous_text_is_a_language_model_s(regard, model, data):
    ended = regard("evaluate", model, data / "test.tsv", "--continuous")
    assert (ended.status, ended.out) == (2, "")
    assert "--continuous applies to a model for sampling and scoring text" in ended.err


def test_no_text_is_told(regard, language_model, text):
    text.write_text("\n \n")
    ended = regard("evaluate", language_model, text)
    assert (ended.status, ended.out) == (2, "")
    assert "test.txt: an empty test set; give at least one line of text" in ended.err
