"""The demos of all datasets, small: what they print, what they write, and that the model can be used."""

import json
import re

import pytest

from regard.datasets import DATASETS
from regard.training.demos import find_demo

pytestmark = pytest.mark.journey

_TRAINING = ("training.max_updates=3", "training.validate_every=3", "training.device=cpu")
_ENCODER = ("model.encoder.embedding_size=8", "model.encoder.state_size=8")
_OPTIONS = {
    "translate": (
        *_ENCODER,
        *("model.decoder.embedding_size=8", "model.decoder.state_size=16", "model.decoder.readout_size=8"),
        "model.decoder.attention.size=8",
    ),
    "language_model": ("model.embedding_size=8", "model.state_size=8"),
    "classify": _ENCODER,
    "tag": _ENCODER,
    "caption": ("model.decoder.embedding_size=8", "model.decoder.state_size=8"),
}


def small(dataset):
    """Forty examples, three updates, a few units."""
    words = ["--train-size", 40]
    for option in (*_TRAINING, *_OPTIONS[DATASETS[dataset].task]):
        words += ["--set", option]
    return words


SMALL = small("microworld")


def of_task(*tasks):
    return pytest.mark.parametrize(
        "dataset", [name for name, dataset in DATASETS.items() if dataset.task in tasks]
    )


def run_demo(regard, tmp_path, dataset):
    """Run a demo: what it prints, its folder, and its report."""
    out = regard("demo", dataset, *small(dataset))
    folder = tmp_path / "runs" / f"demo-{dataset}"
    assert f"the model, its report and its corpus are in runs/demo-{dataset}" in out
    return out, folder, json.loads((folder / "report.json").read_text(encoding="utf-8"))


def printed_names(out):
    """The first words of the table's rows, without the lines of additional test sets."""
    rows = out.split("\n\n")[0].splitlines()[1:]
    return {row.split()[0] for row in rows if not re.match(r"\w+: ", row)}


def assert_same_scores(again, report):
    for name in again:
        if name not in ("sentences_per_second", "command"):
            assert again[name] == report[name], name


@of_task("translate")
def test_translation(regard, tmp_path, monkeypatch, dataset):
    monkeypatch.chdir(tmp_path)
    out, folder, report = run_demo(regard, tmp_path, dataset)
    # the printed table: names as in report.json
    assert out.startswith("40 held-out sentences\n")
    names = printed_names(out)
    assert names <= set(report)
    assert {"bleu", "chrf", "exact_match", "perplexity", "train_seconds"} <= names
    assert ("aer" in names) == (dataset in ("microworld", "copy"))
    assert report["num_sentences"] == report["num_train_pairs"] == report["num_valid_pairs"] == 40
    assert 0 <= report["exact_match"] <= 1
    assert report["validation"]["loss"] > 0
    # some translations, a plot, the folder, and a command to try
    assert len(re.findall(r"^  [✓✗] ", out, flags=re.MULTILINE)) == 5
    assert "attention (source above" in out
    assert re.search(f"^report: +{re.escape(str(folder / 'report.html'))}$", out, flags=re.MULTILINE)
    assert (folder / "report.html").stat().st_size > 10_000
    typed = re.search(r"try: +echo (.*) \| .*regard translate (.*) --alignments", out)
    assert typed
    assert typed[2] == f"runs/demo-{dataset}"
    assert regard("translate", typed[2], "--alignments", stdin="a b\n").count("\t") == 1
    # the test set is stored beside the model; evaluating it again gives the same scores
    corpus = folder / "corpus"
    gold = ["--gold", corpus / "test.links"] if (corpus / "test.links").exists() else []
    again = json.loads(
        regard(
            *("evaluate", folder, corpus / "test.source", corpus / "test.target", *gold),
            *("--tokenize", find_demo(dataset).tokenize, "--json"),
        )
    )
    assert_same_scores(again, report)


@of_task("language_model")
def test_language_model(regard, tmp_path, monkeypatch, dataset):
    monkeypatch.chdir(tmp_path)
    out, folder, report = run_demo(regard, tmp_path, dataset)
    assert out.startswith("40 held-out sentences\n")
    assert {"perplexity", "bits_per_character", "train_seconds"} == printed_names(out) <= set(report)
    assert {"language": {"long", "unseen"}, "newsroom": {"far"}}[dataset] <= set(report)
    assert len(report["samples"]) == 5
    for line in report["samples"]:
        assert line in out
    assert "one of them, step by step" in out
    assert (folder / "growth.png").stat().st_size > 5_000
    assert_same_scores(
        json.loads(regard("evaluate", folder, folder / "corpus" / "test.txt", "--json")), report
    )
    assert regard("sample", folder, "-n", 5).splitlines() == report["samples"]


@of_task("classify")
def test_classifier(regard, tmp_path, monkeypatch, dataset):
    monkeypatch.chdir(tmp_path)
    out, folder, report = run_demo(regard, tmp_path, dataset)
    assert out.startswith("40 held-out sentences\n")
    assert {"accuracy", "macro_f1", "train_seconds"} <= printed_names(out)
    predictions = (folder / "predictions.txt").read_text(encoding="utf-8").splitlines()[:6]
    rows = (folder / "corpus" / "test.tsv").read_text(encoding="utf-8").splitlines()[:6]
    right = [label == row.split("\t")[0] for label, row in zip(predictions, rows, strict=True)]
    assert [mark == "✓" for mark in re.findall(r"^  ([✓✗]) ", out, flags=re.MULTILINE)] == right
    has_weights = dataset == "sentiment"
    assert ("pooling weights" in out) == (folder / "weights.png").exists() == has_weights
    assert len(re.findall(r"^  [✓✗] ", out, flags=re.MULTILINE)) == 6
    assert (folder / "confusion.png").exists()
    assert_same_scores(
        json.loads(regard("evaluate", folder, folder / "corpus" / "test.tsv", "--json")), report
    )
    typed = re.search(r"try: +echo '(.*)' \| .*regard classify (.*) --show", out)
    assert typed
    assert regard("classify", typed[2], stdin=f"{typed[1]}\n").strip() in report["classes"]


@of_task("tag")
def test_tagger(regard, tmp_path, monkeypatch, dataset):
    monkeypatch.chdir(tmp_path)
    out, folder, report = run_demo(regard, tmp_path, dataset)
    assert {"accuracy", "sentence_accuracy", "train_seconds"} <= printed_names(out)
    assert (folder / "tags.png").stat().st_size > 5_000
    corpus = folder / "corpus"
    again = json.loads(regard("evaluate", folder, corpus / "test.words", corpus / "test.tags", "--json"))
    assert_same_scores(again, report)


@of_task("caption")
def test_captioner(regard, tmp_path, monkeypatch, dataset):
    monkeypatch.chdir(tmp_path)
    out, folder, report = run_demo(regard, tmp_path, dataset)
    assert {"bleu", "exact_match", "train_seconds"} <= printed_names(out)
    assert len(re.findall(r"^  [✓✗] ", out, flags=re.MULTILINE)) == 6
    corpus = folder / "corpus"
    again = json.loads(
        regard("evaluate", folder, corpus / "test.npy", corpus / "test.txt", "--tokenize", "none", "--json")
    )
    assert_same_scores(again, report)
    captions = regard("caption", folder, corpus / "test.npy")
    assert captions == (folder / "captions.txt").read_text(encoding="utf-8")


def test_json_and_a_second_run(regard, tmp_path):
    """The JSON printed is report.json; a second run does not overwrite the folder of the first."""
    printed = json.loads(regard("demo", *SMALL, "--out", tmp_path / "demo", "--json"))
    assert printed == json.loads((tmp_path / "demo" / "report.json").read_text(encoding="utf-8"))
    assert {"bleu", "chrf", "exact_match", "aer", "train_seconds", "long", "unseen", "validation"} <= set(
        printed
    )
    before = (tmp_path / "demo" / "best.safetensors").read_bytes()
    other = regard("demo", *SMALL, "--out", tmp_path / "demo", "--seed", 2)
    assert f"{tmp_path}/demo-2" in other
    assert (tmp_path / "demo" / "best.safetensors").read_bytes() == before
    assert (tmp_path / "demo-2" / "best.safetensors").read_bytes() != before
    page = (tmp_path / "demo-2" / "report.html").read_text(encoding="utf-8")
    assert f"regard demo --out {tmp_path}/demo --train-size 40 --seed 2 --set training.max_updates=3" in page
