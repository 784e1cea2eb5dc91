"""``regard classify``, ``regard tag``, and ``regard evaluate`` of both: lines in, as many out, and what is refused."""

import json
import re

import pytest

from regard.tasks.classify.predictor import Classifier
from regard.tasks.tag.predictor import Tagger
from regard.training.configure import configure
from regard.training.run import run_training

TRAINING = {
    "learning_rate": 0.05,
    "schedule": "constant",
    "warmup": 0,
    "batch_sentences": 8,
    "max_epochs": 0.0,
    "max_updates": 15,
    "validate_every": 15,
    "device": "cpu",
}
ENCODER = {"embedding_size": 8, "state_size": 8, "dropout": 0.0}
TEXTS = [("good", "a b"), ("bad", "c d"), ("good", "b a a"), ("bad", "d d c")]
PAIRS = [("same", "a", "a"), ("other", "a", "c"), ("same", "c", "c"), ("other", "c", "a")]
SENTENCES = [("a c", "X Y"), ("c a a", "Y X X"), ("a", "X"), ("c", "Y")]
LINES = "a b\n\nc\nd b a\n"


def trained(folder, task, examples, **model):
    config = {"task": task, "model": {"encoder": ENCODER, **model}, "training": TRAINING}
    run_training(folder, configure(config), train=examples * 4, valid=examples)
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("labels")
    return {
        "classify": trained(root / "one", "classify", TEXTS, pooling_size=8),
        "mean": trained(root / "mean", "classify", TEXTS, pooling="mean"),
        "pairs": trained(root / "two", "classify", PAIRS, num_texts=2),
        "tag": trained(root / "tag", "tag", SENTENCES),
    }


class TestClassify:
    def test_a_label_for_each_line(self, regard, folders, tmp_path):
        wanted = [one.label for one in Classifier.load(folders["classify"]).classify(LINES.splitlines())]
        ended = regard("classify", folders["classify"], stdin=LINES)
        assert (ended.status, ended.err) == (0, "")
        assert ended.out.splitlines() == wanted == ["good", "", "bad", wanted[3]]
        (tmp_path / "lines").write_text(LINES)
        ended = regard(
            "classify", folders["classify"], tmp_path / "lines", "-", "-o", tmp_path / "out", stdin="c\n"
        )
        assert (ended.status, ended.out) == (0, "")
        assert (tmp_path / "out").read_text().splitlines() == [*wanted, "bad"]

    def test_probabilities_and_json(self, regard, folders):
        found = Classifier.load(folders["classify"]).classify(LINES.splitlines())
        out = regard("classify", folders["classify"], "--probabilities", stdin=LINES).out.splitlines()
        assert out[1] == ""
        share = found[0].probabilities
        assert out[0] == f"good\tbad={share['bad']:.4f}\tgood={share['good']:.4f}"
        out = regard("classify", folders["classify"], "--json", stdin=LINES).out.splitlines()
        assert [json.loads(line) for line in out] == [one.to_json() for one in found]

    def test_words_are_drawn(self, regard, folders, tmp_path):
        out = regard("classify", folders["classify"], "--show", "--plot", tmp_path / "p", stdin=LINES).out
        assert re.search(r"good: \d+ %   bad: \d+ %", out)
        assert "a b </s>" in out
        assert out.count("</s>") == 3
        assert [path.name for path in sorted((tmp_path / "p").iterdir())] == [
            "000001.png",
            "000003.png",
            "000004.png",
        ]
        # no weights to draw: the words all the same
        assert "a b </s>" in regard("classify", folders["mean"], "--show", stdin=LINES).out

    def test_pairs_and_columns(self, regard, folders):
        out = regard("classify", folders["pairs"], stdin="a\ta\n\nc\ta\n").out
        assert out.splitlines() == ["same", "", "other"]
        columns = ["--column", 3, "--second-column", 1]
        out = regard("classify", folders["pairs"], *columns, stdin="a\tx\tc\nc\tx\tc\n").out
        assert out.splitlines() == ["other", "same"]
        assert regard("classify", folders["classify"], "--column", 2, stdin="c\ta b\n").out == "good\n"

    @pytest.mark.parametrize(
        ("arguments", "stdin", "message"),
        [
            (["classify", "--json", "--show"], "", "print different things; choose one"),
            (["classify", "--second-column", 2], "", "classifies one text at a time; leave it out"),
            (["classify", "--show", "-o", "x"], "", "--show draws in the terminal"),
            (
                ["classify", "--max-length", 1],
                "a b\n",
                "standard input:1 ('a b' …) has 2 tokens, above the limit of 1",
            ),
            (["pairs"], "a\n", "1 column where columns 1 and 2 are needed"),
            (["pairs", "--column", 0], "a\tb\n", "counted from 1"),
            (["pairs", "--second-column", 0], "a\tb\n", "counted from 1"),
            (["tag"], "", "a model for tagging; name one for classifying"),
        ],
    )
    def test_refusals(self, regard, folders, arguments, stdin, message):
        name, *options = arguments
        ended = regard("classify", folders[name], *options, stdin=stdin)
        assert (ended.status, ended.out) == (2, "")
        assert message in ended.err.replace("\n", " ")


class TestTag:
    def test_tags_for_each_line(self, regard, folders):
        found = Tagger.load(folders["tag"]).tag(LINES.splitlines())
        ended = regard("tag", folders["tag"], stdin=LINES)
        assert (ended.status, ended.err) == (0, "")
        assert ended.out.splitlines() == [str(one) for one in found]
        assert ended.out.splitlines()[1:3] == ["", "Y"]
        out = regard("tag", folders["tag"], "--json", stdin=LINES).out.splitlines()
        assert [json.loads(line) for line in out] == [one.to_json() for one in found]

    def test_vertical(self, regard, folders):
        assert (
            regard("tag", folders["tag"], "--vertical", stdin="a c\n\nc\n").out == "a\tX\nc\tY\n\n\nc\tY\n\n"
        )

    def test_drawn(self, regard, folders, tmp_path):
        out = regard("tag", folders["tag"], "--show", "--plot", tmp_path / "p", stdin="a c\n\nc\n").out
        assert re.match(r"a c\nX Y\n\n+c\nY\n", out)
        assert [path.name for path in sorted((tmp_path / "p").iterdir())] == ["000001.png", "000003.png"]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["tag", "--json", "--vertical"], "print different things; choose one"),
            (["tag", "--show", "-o", "x"], "--show draws in the terminal"),
            (["tag", "--max-length", 1], "standard input:1 ('a c' …) has 2 words, above the limit of 1"),
            (["classify"], "a model for classifying; name one for tagging"),
        ],
    )
    def test_refusals(self, regard, folders, arguments, message):
        name, *options = arguments
        ended = regard("tag", folders[name], *options, stdin="a c\n")
        assert (ended.status, ended.out) == (2, "")
        assert message in ended.err.replace("\n", " ")


def written(path, rows):
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    return path


class TestEvaluate:
    def test_a_classifier(self, regard, folders, tmp_path):
        file = written(tmp_path / "test.tsv", [*TEXTS, ("bad", "a b")])
        report = json.loads(regard("evaluate", folders["classify"], file, "--json").out)
        assert (report["accuracy"], report["num_sentences"]) == (0.8, 5)
        assert report["confusion"] == [[2, 1], [0, 2]]
        assert report["classes"]["bad"]["recall"] == pytest.approx(2 / 3)
        ended = regard("evaluate", folders["classify"], file, "--out", tmp_path / "report")
        assert ended.status == 0
        assert re.search(r"^accuracy +80.0\s%$", ended.out, flags=re.MULTILINE)
        assert re.search(r"^bad +100.0\s% +66.7\s% +80.0\s% +3 +2$", ended.out, flags=re.MULTILINE)
        assert str(tmp_path / "report" / "confusion.png") in ended.err
        assert (tmp_path / "report" / "predictions.txt").read_text() == "good\nbad\ngood\nbad\ngood\n"
        kept = json.loads((tmp_path / "report" / "report.json").read_text())
        assert kept["command"] == f"regard evaluate {folders['classify']} {file} --out {tmp_path / 'report'}"
        assert kept["confusion"] == report["confusion"]

    def test_layouts_of_labelled_texts(self, regard, folders, tmp_path):
        swapped = written(tmp_path / "swapped", [("text", "label"), *(row[::-1] for row in TEXTS)])
        spaced = tmp_path / "spaced"
        spaced.write_text("".join(f"{label} {text}\n" for label, text in TEXTS))
        for arguments in ([swapped, "--columns", 2, 1, "--header"], [spaced, "--separator", "space"]):
            assert (
                json.loads(regard("evaluate", folders["classify"], *arguments, "--json").out)["accuracy"] == 1
            )
        pairs = written(tmp_path / "pairs", PAIRS)
        moved = written(tmp_path / "moved", [(b, label, a) for label, a, b in PAIRS])
        for arguments in ([pairs], [moved, "--columns", 2, 3, "--second-column", 1]):
            assert json.loads(regard("evaluate", folders["pairs"], *arguments, "--json").out)["accuracy"] == 1

    def test_a_tagger_in_every_layout(self, regard, folders, tmp_path):
        rows = [*SENTENCES, ("a c", "X X")]
        tsv = written(tmp_path / "tsv", rows)
        words = written(tmp_path / "words", [row[:1] for row in rows])
        tags = written(tmp_path / "tags", [row[1:] for row in rows])
        vertical = tmp_path / "vertical"
        cells = [zip(one.split(), other.split(), strict=True) for one, other in rows]
        vertical.write_text("\n\n".join("\n".join(f"{tag}\t{word}" for word, tag in each) for each in cells))
        reports = [
            json.loads(regard("evaluate", folders["tag"], *arguments, "--json").out)
            for arguments in (
                [tsv],
                [words, tags],
                [vertical, "--vertical", "--columns", 2, 1],
                [vertical, "--columns", 2, 1],
            )
        ]
        for report in reports:
            assert report["accuracy"] == pytest.approx(8 / 9)
            assert report["sentence_accuracy"] == 0.8
            assert report["classes"]["Y"]["precision"] == 0.75
        assert "sentence_accuracy" in regard("evaluate", folders["tag"], tsv).out

    def test_refusals(self, regard, folders, tmp_path):
        labelled = written(tmp_path / "labelled", [*TEXTS, ("awful", "a")])
        tagged = written(tmp_path / "tagged", [*SENTENCES, ("a c", "X")])
        empty = written(tmp_path / "empty", [])
        one = folders["classify"]
        for arguments, message in (
            ([one, labelled], "labelled:5: the label 'awful' was not in the training data; known: bad, good"),
            ([one, labelled, "--columns", 1, 3], "2 columns where columns 1 and 3 are needed"),
            ([folders["tag"], tagged], "tagged:5: 2 words and 1 tags"),
            ([one, empty], "empty: an empty test set"),
            ([folders["tag"], empty], "empty: an empty test set"),
            (
                [one, labelled, "--gold", tagged],
                "--gold applies to a model for translating or aligning words, and "
                f"{one} is one for classifying; leave it out",
            ),
            ([one, labelled, "--vertical"], "--vertical applies to a model for tagging"),
            ([one, labelled, tagged], "a second file"),
            ([folders["tag"], tagged, "--header"], "--header applies to a model for classifying"),
            ([one, labelled, "--second-column", 3], "classifies one text at a time"),
            ([folders["pairs"], labelled, "--columns", 1, 2], "name the columns of label and first text"),
            ([folders["tag"], tagged, tagged, "--vertical"], "words and tags are in one file"),
        ):
            ended = regard("evaluate", *arguments)
            assert (ended.status, ended.out) == (2, ""), arguments
            assert message in ended.err.replace("\n", " "), arguments


@pytest.mark.parametrize("command", ["classify", "tag"])
def test_one_text_is_plotted_into_a_file_and_several_are_not(regard, folders, tmp_path, command):
    picture = tmp_path / "c.png"
    ended = regard(command, folders[command], "--plot", picture, stdin="a c\n\nc\n")
    assert ended.status != 0
    assert "one file for several plots; name a folder" in ended.err.replace("\n", " ")
    assert not picture.exists()
    assert regard(command, folders[command], "--plot", picture, stdin="a c\n\n").status == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_pair_that_is_none_names_the_options(regard, folders):
    ended = regard("classify", folders["pairs"], stdin="a\n")
    assert "as --column 1 --second-column 2" in ended.err.replace("\n", " ")
    ended = regard("classify", folders["pairs"], stdin="same\ta\ta\n")
    assert "3 columns, and only columns 1 and 2 are read" in ended.err.replace("\n", " ")


def test_an_encoder_cannot_start_from_a_translator(regard, model, tmp_path):
    (tmp_path / "t.tsv").write_text("x\ta\ny\tb\n")
    ended = regard(
        *("train", tmp_path / "new", "--task", "classify", "--train", tmp_path / "t.tsv"),
        *("--set", "model.encoder.bidirectional=false", "--set", f"pretrained.encoder={model}"),
    )
    assert ended.status == 2
    assert f"pretrained.encoder: {model}" in ended.err.replace("\n", " ")
