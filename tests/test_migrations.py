"""Folders of older formats still open and give the same results.

`fixtures/format-2` was written by commit 1ccf993, `fixtures/format-3` by 34baafe.
"""

import json
from pathlib import Path

import pytest

import regard
from regard.checkpoint import FORMAT, MIGRATIONS, ModelFolder, read_log, read_options
from regard.config import read_toml
from regard.errors import ConfigError
from regard.tasks import TASKS
from regard.training.configure import configure

FIXTURES = Path(__file__).parent / "fixtures"
FORMAT_2 = FIXTURES / "format-2"
EXPECTED = json.loads((FORMAT_2 / "expected.json").read_text(encoding="utf-8"))
TASKS_OF_2 = {
    "translate": "translate",
    "lm": "language_model",
    "classify": "classify",
    "tag": "tag",
    "describe": "caption",
}
"""The folder, named for its task as format 2 had it → the task's name now."""

# sums in another order than at 1ccf993: some float32 roundings of numbers around 1
CLOSE = {"rel": 1e-5, "abs": 1e-6}


def test_every_format_before_the_present_one_has_its_migration():
    assert sorted(MIGRATIONS) == list(range(min(MIGRATIONS), FORMAT))
    assert {int(folder.name.partition("-")[2]) for folder in FIXTURES.glob("format-*")} == set(MIGRATIONS)


@pytest.mark.parametrize(("old", "task"), TASKS_OF_2.items())
def test_the_fixture_is_of_the_old_format_and_opens_under_the_task_s_present_name(old, task):
    description = json.loads((FORMAT_2 / old / "regard.json").read_text(encoding="utf-8"))
    assert (description["format"], description["task"]) == (2, old)
    folder = ModelFolder(FORMAT_2 / old)
    assert folder.task == folder.load().task == task
    assert isinstance(TASKS[task].predictor().load(FORMAT_2 / old), TASKS[task].predictor())


@pytest.mark.parametrize("weights", ["best", "last"])
class TestResults:
    """What the models of 1ccf993 said there, they say here."""

    def expected(self, name, weights):
        return EXPECTED[name]["inputs"], EXPECTED[name][weights]

    def test_translator(self, weights):
        inputs, expected = self.expected("translate", weights)
        translator = regard.Translator.load(FORMAT_2 / "translate", weights=weights)
        results = translator.translate(inputs, beam=EXPECTED["translate"]["beam"])
        for result, each in zip(results, expected, strict=True):
            assert result.text == each["text"]
            assert (result.log_prob, result.score) == pytest.approx(
                (each["log_prob"], each["score"]), **CLOSE
            )

    def test_language_model(self, weights):
        inputs, expected = self.expected("lm", weights)
        results = regard.LanguageModel.load(FORMAT_2 / "lm", weights=weights).score(inputs)
        for result, each in zip(results, expected, strict=True):
            assert result.log_prob == pytest.approx(each["log_prob"], **CLOSE)
            assert len(result.tokens) == each["num_tokens"]

    def test_classifier(self, weights):
        inputs, expected = self.expected("classify", weights)
        results = regard.Classifier.load(FORMAT_2 / "classify", weights=weights).classify(inputs)
        for result, each in zip(results, expected, strict=True):
            assert result.label == each["label"]
            assert dict(result.probabilities) == pytest.approx(each["probabilities"], **CLOSE)

    def test_tagger(self, weights):
        inputs, expected = self.expected("tag", weights)
        results = regard.Tagger.load(FORMAT_2 / "tag", weights=weights).tag(inputs)
        for result, each in zip(results, expected, strict=True):
            assert list(result.tags) == each["tags"]
            assert list(result.probabilities) == pytest.approx(each["probabilities"], **CLOSE)

    def test_captioner(self, weights):
        inputs, expected = self.expected("describe", weights)
        captioner = regard.Captioner.load(FORMAT_2 / "describe", weights=weights)
        for result, each in zip(captioner.caption(inputs, beam=2), expected, strict=True):
            assert result.text == each["text"]
            assert (result.log_prob, result.score) == pytest.approx(
                (each["log_prob"], each["score"]), **CLOSE
            )


@pytest.mark.parametrize("weights", ["best", "last"])
def test_a_classifier_of_format_3_and_its_configuration(weights):
    folder = FIXTURES / "format-3"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["classify"]
    classifier = regard.Classifier.load(folder / "classify", weights=weights)
    for result, each in zip(classifier.classify(expected["inputs"]), expected[weights], strict=True):
        assert result.label == each["label"]
        assert dict(result.probabilities) == pytest.approx(each["probabilities"], **CLOSE)
    assert configure(read_options(folder / "classify" / "train.toml")).model == classifier.model.config


def test_the_shortlist_of_a_translator_is_read():
    translator = regard.Translator.load(FORMAT_2 / "translate", shortlist=True)
    expected = EXPECTED["translate"]
    for result, each in zip(
        translator.translate(expected["inputs"], beam=2), expected["best_with_shortlist"], strict=True
    ):
        assert result.text == each["text"]
        assert result.log_prob == pytest.approx(each["log_prob"], **CLOSE)


def test_scores_and_the_log_have_their_present_names():
    facts = ModelFolder(FORMAT_2 / "translate").load().facts
    assert facts["exposure_gap"] == 0.0
    assert "gap" not in facts
    rows = read_log(FORMAT_2 / "translate")
    lines = (FORMAT_2 / "translate" / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(rows) == len(lines)
    train = [row for row in rows if row["event"] == "train"]
    assert train[0]["learning_rate"] == json.loads(lines[1])["rate"]
    assert not any(old in row for row in rows for old in ("rate", "gap"))


@pytest.mark.parametrize(("old", "task"), TASKS_OF_2.items())
def test_its_configuration_can_be_run_again(old, task):
    path = FORMAT_2 / old / "train.toml"
    before, run = read_toml(path), configure(read_options(path))
    assert run.task == task
    assert run.training.learning_rate == before["training"]["rate"]
    assert run.training.unfreeze_every == before["training"]["thaw_every"]
    assert run.model == ModelFolder(FORMAT_2 / old).load().model.config
    with pytest.raises(ConfigError):
        configure(before)


UNUSED = {
    "an energy without units": (
        {"attention": {"energy": "dot", "size": 256, "window": "local-p", "reach": 10}},
        {"attention": {"energy": "dot", "window": "local-p", "window_size": 10}},
    ),
    "a global window": (
        {"attention": {"energy": "additive", "size": 256, "window": "global", "reach": 10}},
        {"attention": {"energy": "additive", "size": 256, "window": "global"}},
    ),
    "a pooling without units": (
        {"pooling": "mean", "pooling_size": 256, "dropout": 0.1},
        {"pooling": "mean", "dropout": 0.1},
    ),
    "a decoder without a summary": (
        {"decoder": {"kind": "sutskever"}, "summary_size": 256},
        {"decoder": {"kind": "sutskever"}},
    ),
    "a memory": (
        {"encoder": {"memory": {"energy": "bilinear", "size": 0, "span": 3}}},
        {"encoder": {"memory": {"energy": "bilinear", "span": 3}}},
    ),
}


@pytest.mark.parametrize(("before", "after"), UNUSED.values(), ids=UNUSED.keys())
def test_options_without_meaning_are_dropped(before, after):
    """Format 2 wrote them at their defaults; now they are refused, so a migrated folder has none."""
    for document in ("description", "options"):
        assert MIGRATIONS[2](document, {"model": before})["model"] == after
