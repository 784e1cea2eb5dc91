"""``regard compare``: models and files of outputs, as text, JSON and a page."""

import json
import re

import pytest

from regard.cli.console import results
from regard.evaluation import measure_quality
from regard.evaluation.significance import compare_texts
from regard.evaluation.text import TextOptions
from regard.tasks.comparison import mark_differences
from regard.text import parse_pharaoh
from regard.training.configure import configure
from regard.training.run import run_training

FAST = ("--resamples", 50, "--shuffles", 50)


@pytest.fixture
def outputs(data):
    """Two files of outputs: one nearly right, one with every third word wrong."""
    references = (data / "test.tgt").read_text().splitlines()
    good = [line if k else "X" for k, line in enumerate(references)]
    bad = [
        " ".join("Z" if place % 3 == 2 or not k else word for place, word in enumerate(line.split()))
        for k, line in enumerate(references)
    ]
    for name, lines in (("good.txt", good), ("bad.txt", bad)):
        (data / name).write_text("".join(f"{line}\n" for line in lines))
    return data


def test_two_models(regard, model, fixed_model, data):
    arguments = ["compare", fixed_model, model, data / "test.src", data / "test.tgt", *FAST]
    ended = regard(*arguments, "--json")
    assert ended.status == 0, ended.err
    report = json.loads(ended.out)
    assert report["systems"] == [str(fixed_model), str(model)]
    assert report["num_sentences"] == 12
    for number, folder in enumerate((fixed_model, model)):
        evaluated = json.loads(regard("evaluate", folder, data / "test.src", data / "test.tgt", "--json").out)
        for key, each in report["scores"].items():
            assert each["scores"][number] == pytest.approx(evaluated[key]), key
    assert list(report["scores"]) == ["wer", "per", "exact_match", "bleu", "chrf", "perplexity"]
    assert "p_bootstrap" not in report["scores"]["perplexity"]
    for each in report["scores"].values():
        assert each["difference"] == pytest.approx(each["scores"][1] - each["scores"][0])
    for each in report["differences"]:
        assert each["outputs"][0] != each["outputs"][1]
        assert each["links"][0] is None, "the first model has no attention"
        parse_pharaoh(each["links"][1], "")
    gaps = [abs(each["scores"][0] - each["scores"][1]) for each in report["differences"]]
    assert gaps == sorted(gaps, reverse=True)
    printed = regard(*arguments).out
    assert f"A  {fixed_model}" in printed
    assert "12 sentences" in printed
    (line,) = [line for line in printed.splitlines() if line.startswith("bleu  ")]
    bleu = report["scores"]["bleu"]
    assert f"{bleu['scores'][1]:.1f} ± {bleu['margins'][1]:.1f}" in line
    assert f"{bleu['p_bootstrap']:.3f}" in line
    assert f"{bleu['p_randomization']:.3f}" in line
    assert f"bleu: {report['signatures']['bleu']}" in printed


@pytest.mark.parametrize("test_set", [("test.src", "test.tgt"), ("test.tsv",), ("test.tgt",)])
def test_two_files_of_outputs(regard, outputs, test_set):
    files = [outputs / name for name in test_set]
    ended = regard("compare", outputs / "bad.txt", outputs / "good.txt", *files, *FAST, "--json")
    assert ended.status == 0, ended.err
    report = json.loads(ended.out)
    references = (outputs / "test.tgt").read_text().splitlines()
    lines = [(outputs / name).read_text().splitlines() for name in ("bad.txt", "good.txt")]
    expected = compare_texts(
        *lines, references, TextOptions(unit="symbols"), num_resamples=50, num_shuffles=50
    )
    assert report["scores"].keys() == expected.keys()
    for key, test in expected.items():
        assert report["scores"][key] == test.to_json()
        assert test.scores[0] == pytest.approx(measure_quality(lines[0], references, unit="symbols")[key])
    assert report["scores"]["bleu"]["significant"]
    known = len(test_set) == 2 or test_set == ("test.tsv",)
    assert bool(report["differences"][0]["source"]) == known


def test_a_model_and_a_file(regard, model, outputs):
    ended = regard("compare", outputs / "good.txt", model, outputs / "test.tsv", *FAST, "--json")
    assert ended.status == 0, ended.err
    report = json.loads(ended.out)
    assert report["systems"][0].endswith("good.txt")
    assert "perplexity" not in report["scores"], "a file has none"
    assert report["differences"][0]["links"][0] is None


def test_the_scores_fit_into_80_columns(regard, outputs, monkeypatch):
    monkeypatch.setattr(results, "_width", 80)
    ended = regard("compare", outputs / "bad.txt", outputs / "good.txt", outputs / "test.tsv", *FAST)
    table = ended.out.split("sentences\n")[1].split("± is half")[0]
    assert "…" not in table
    assert max(map(len, table.splitlines())) <= 80


def test_what_is_not_in_the_reference_is_marked(regard, outputs):
    ended = regard("compare", outputs / "bad.txt", outputs / "good.txt", outputs / "test.tsv", *FAST)
    assert ended.status == 0, ended.err
    shown = ended.out.split("differs most:")[1]
    assert re.search(r"^  A          .*\*Z", shown, flags=re.MULTILINE)
    assert re.search(r"^exact_match .* \* B$", ended.out, flags=re.MULTILINE)
    assert mark_differences("a b x y c", "a b c") == [("a b", False), ("x y", True), ("c", False)]
    assert mark_differences("kat", "cat", by_character=True) == [("k", True), ("at", False)]


def test_the_page(regard, model, fixed_model, data):
    ended = regard(
        *(
            "compare",
            fixed_model,
            model,
            data / "test.tsv",
            *FAST,
            "--out",
            data / "report",
            "--differences",
            2,
        )
    )
    assert ended.status == 0, ended.err
    page = (data / "report" / "report.html").read_text()
    assert page.count("<article>") == 2
    assert page.count("attention of B") == 2
    assert "attention of A" not in page
    assert "12 sentences" in page
    assert "http" not in page.split("<body")[1], "it loads nothing"
    report = json.loads((data / "report" / "report.json").read_text())
    assert len(report["differences"]) == 2
    assert report["command"].startswith("regard compare")
    assert len((data / "report" / "a.txt").read_text().splitlines()) == 12


@pytest.fixture
def classifiers(tmp_path):
    examples = [("good" if k % 2 else "bad", f"{'yes' if k % 2 else 'no'} w{k}") for k in range(60)]
    config = {
        "task": "classify",
        "model": {"encoder": {"embedding_size": 4, "state_size": 4}},
        "training": {"max_epochs": 0.0, "device": "cpu", "learning_rate": 0.05},
    }
    for name, updates in (("one", 1), ("two", 30)):
        run = configure(config, {"training": {"max_updates": updates}})
        run_training(tmp_path / name, run, train=examples)
    (tmp_path / "test.tsv").write_text("".join(f"{label}\t{text}\n" for label, text in examples))
    return tmp_path


def test_classifiers(regard, classifiers):
    ended = regard(
        *("compare", classifiers / "one", classifiers / "two", classifiers / "test.tsv", *FAST, "--json")
    )
    assert ended.status == 0, ended.err
    report = json.loads(ended.out)
    accuracy = report["scores"]["accuracy"]
    assert accuracy["scores"][1] > accuracy["scores"][0]
    assert accuracy["significant"]
    assert report["p_mcnemar"] < 0.05
    assert report["differences"][0]["scores"] in ([0.0, 100.0], [100.0, 0.0])


class TestRefused:
    def test_a_file_of_another_length(self, regard, outputs):
        (outputs / "short.txt").write_text("a\n")
        ended = regard("compare", outputs / "short.txt", outputs / "good.txt", outputs / "test.tsv")
        assert (ended.status, ended.out) == (2, "")
        assert (
            "short.txt: 1 lines, and the test set has 12 sentences; give one line of output per sentence"
            in (ended.err)
        )

    def test_nothing_of_that_name(self, regard, outputs):
        ended = regard("compare", outputs / "gone.txt", outputs / "good.txt", outputs / "test.tsv")
        assert ended.status == 2
        assert "gone.txt: neither a model folder nor a file of outputs; check the name" in ended.err

    def test_models_of_two_tasks(self, regard, model, classifiers):
        ended = regard("compare", model, classifiers / "one", classifiers / "test.tsv")
        assert ended.status == 2
        assert "is a model for translating and" in ended.err

    def test_a_file_beside_a_classifier(self, regard, classifiers):
        (classifiers / "labels.txt").write_text("good\n" * 60)
        ended = regard("compare", classifiers / "one", classifiers / "labels.txt", classifiers / "test.tsv")
        assert ended.status == 2
        assert "the other system predicts labels; name two model folders" in ended.err

    @pytest.mark.parametrize(
        ("option", "value"), [("--resamples", 3), ("--resamples", 10**9), ("--shuffles", 10**9)]
    )
    def test_too_few_or_too_many_resamples(self, regard, outputs, option, value):
        ended = regard(
            *("compare", outputs / "bad.txt", outputs / "good.txt", outputs / "test.tsv", option, value)
        )
        assert ended.status == 2
        assert f"{option}: {value} is out of range; it must be from" in ended.err
