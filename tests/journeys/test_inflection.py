"""Inflection: lemma, features, form. A toy language is learned through the command line, from files in either order.

A form is the lemma with a suffix that its features choose; no lemma of the test set occurs in training.
"""

import json
import lzma
import random
from pathlib import Path

import pytest

from regard import FeaturedText, Translator

pytestmark = pytest.mark.journey

SUFFIXES = {("N", "SG"): "", ("N", "PL"): "en", ("V", "PRS"): "t", ("V", "PST"): "ete"}
SHARED = Path(__file__).parents[2].parent / "shared" / "data" / "sigmorphon2016-inflection"


def examples():
    rng = random.Random(3)
    lemmas = sorted({"".join(rng.choices("abdeiknt", k=rng.randint(2, 4))) for _ in range(500)})
    rng.shuffle(lemmas)
    return [(lemma, features, lemma + suffix) for lemma in lemmas for features, suffix in SUFFIXES.items()]


ORDERS = {
    "sigmorphon": lambda lemma, features, form: f"{lemma}\tpos={features[0]},x={features[1]}\t{form}\n",
    "unimorph": lambda lemma, features, form: f"{lemma}\t{form}\t{';'.join(features)}\n",
}


def write(folder, order):
    rows = [ORDERS[order](*example) for example in examples()]
    for name, part in (("train", rows[400:]), ("valid", rows[200:400]), ("test", rows[:200])):
        with lzma.open(folder / f"{name}.xz", "wt", encoding="utf-8") as file:
            file.writelines(part)
    return [row.rstrip("\n").split("\t") for row in rows[:200]]


def options(**values):
    return [
        part for name, value in values.items() for part in ("--set", f"{name.replace('__', '.')}={value}")
    ]


def train(regard, folder, *arguments):
    sizes = options(
        model__encoder__state_size=32,
        model__encoder__dropout=0.0,
        model__decoder__state_size=64,
        model__decoder__dropout=0.0,
        training__learning_rate=0.01,
        training__warmup=20,
        training__label_smoothing=0.0,
        training__validate_every=150,
    )
    files = ("--train", folder / "train.xz", "--valid", folder / "valid.xz")
    run = ("--preset", "characters", "--updates", 300, "--device", "cpu", "--json")
    return json.loads(regard("train", folder / "model", *files, *run, *sizes, *arguments))


@pytest.mark.parametrize(("order", "named"), [("sigmorphon", ("--features", 2)), ("unimorph", ())])
def test_a_toy_language(regard, tmp_path, order, named):
    rows = write(tmp_path, order)
    form, features = (2, 1) if order == "sigmorphon" else (1, 2)
    train(regard, tmp_path, *named)
    report = json.loads(regard("evaluate", tmp_path / "model", tmp_path / "test.xz", *named, "--json"))
    assert report["exact_match"] >= 0.97

    columns = ("--column", 1, "--features", features + 1)
    added = regard("translate", tmp_path / "model", tmp_path / "test.xz", *columns, "--add")
    predicted = [line.split("\t") for line in added.splitlines()]
    assert [row[:3] for row in predicted] == rows
    right = sum(row[3] == row[form] for row in predicted)
    assert right / len(rows) == pytest.approx(report["exact_match"])

    # in Python, in a line with a tab, and with the columns recognised: the same
    translator = Translator.load(tmp_path / "model")
    source = FeaturedText(rows[0][0], tuple(rows[0][features].replace(";", ",").split(",")))
    first = predicted[0][3]
    for given in (source, (rows[0][0], rows[0][features]), f"{rows[0][0]}\t{rows[0][features]}"):
        assert translator.translate([given])[0].text == first
    recognised = regard("translate", tmp_path / "model", tmp_path / "test.xz")
    assert recognised.splitlines() == [row[3] for row in predicted]

    # the alignment shows characters and features by their names
    translation = translator.translate([source])[0]
    labels = (*rows[0][0], *source.features, "</s>")
    assert translation.shown_alpha.source_labels == translation.source_tokens == labels
    assert translation.to_json()["features"] == list(source.features)
    aligned = regard("align", tmp_path / "model", tmp_path / "test.xz", *named, "--json").splitlines()
    assert json.loads(aligned[0])["source_tokens"] == list(labels)

    # the features decide: another bundle gives another form
    forms = {translator.translate([(rows[0][0], row[features])])[0].text for row in rows[:4]}
    assert len(forms) == 4


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data are not there")
@pytest.mark.parametrize("language", ["german", "arabic"])
def test_published_files_as_they_are(regard, tmp_path, language):
    """Only that they are read: a few updates."""
    files = ("--train", SHARED / f"{language}-task1-train.xz", "--valid", SHARED / f"{language}-task1-dev.xz")
    run = ("--preset", "characters", "--updates", 2, "--device", "cpu", "--json")
    report = json.loads(
        regard("train", tmp_path / "m", *files, *run, *options(training__validation_sentences=10))
    )
    assert report["num_train_pairs"] > 10_000
    assert len(Translator.load(tmp_path / "m").features) > 15
