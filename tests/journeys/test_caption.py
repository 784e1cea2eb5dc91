"""Vectors to sentences through the command line: a matrix or a table in, a model, captions and scores out."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from regard.cli.app import app
from regard.datasets import Scenes

pyarrow = pytest.importorskip("pyarrow")
from pyarrow import feather  # noqa: E402 (after the check that it is installed)

pytestmark = pytest.mark.journey

COLOURS, SHAPES = ("red", "green", "blue"), ("circle", "square", "star")


@pytest.fixture
def toy(tmp_path):
    """Colour and shape as noisy numbers of very different scales, as a matrix and as a table."""
    rng = np.random.default_rng(3)
    for name, count in (("train", 180), ("test", 45)):
        colours, shapes = rng.integers(3, size=count), rng.integers(3, size=count)
        rows = np.stack([1000 + 10 * colours, 0.001 * shapes], axis=1)
        rows = (rows + rng.uniform(-1, 1, rows.shape) * [2, 0.0002]).astype(np.float32)
        np.save(tmp_path / f"{name}.npy", rows)
        table = pyarrow.table(
            {"id": list(range(count)), "seen": rows.tolist(), "other": rows[:, :1].tolist()}
        )
        feather.write_feather(table, tmp_path / f"{name}.arrow", compression="uncompressed")
        lines = [f"a {COLOURS[c]} {SHAPES[s]} ." for c, s in zip(colours, shapes, strict=True)]
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


SMALL = ["--updates", 80, "--device", "cpu"]
for option in (
    *("model.summary_size=16", "model.decoder.embedding_size=16", "model.decoder.state_size=16"),
    *(
        "model.decoder.readout_size=16",
        "model.decoder.dropout=0.0",
        "training.learning_rate=0.02",
        "training.warmup=0",
    ),
    *("training.label_smoothing=0.0", "training.validate_every=80"),
):
    SMALL += ["--set", option]


@pytest.mark.parametrize(("suffix", "column"), [("npy", ()), ("arrow", ("--column", "seen"))])
def test_from_files_to_scores(regard, toy, suffix, column):
    data_column = ("--set", "data.column=seen") if column else ()
    files = ["--train", toy / f"train.{suffix}", "--train", toy / "train.txt"]
    report = json.loads(
        regard("train", toy / "m", "--task", "caption", *files, *data_column, *SMALL, "--json")
    )
    assert report["task"] == "caption"
    assert report["validation"]["exact_match"] >= 0.9
    test = [toy / f"test.{suffix}", toy / "test.txt"]
    scores = json.loads(regard("evaluate", toy / "m", *test, *column, "--out", toy / "out", "--json"))
    references = (toy / "test.txt").read_text().splitlines()
    output = regard("caption", toy / "m", test[0], *column).splitlines()
    assert output == (toy / "out" / "captions.txt").read_text().splitlines()
    right = sum(line == reference for line, reference in zip(output, references, strict=True)) / len(
        references
    )
    assert right == scores["exact_match"] >= 0.9
    lines = regard("caption", toy / "m", test[0], *column, "--n-best", 2, "--scores").splitlines()
    assert [line.split("\t")[0] for line in lines] == [str(k // 2 + 1) for k in range(2 * len(references))]
    assert [line.split("\t")[2] for line in lines[::2]] == output
    regard("caption", toy / "m", test[0], *column, "--json", "-o", toy / "out.jsonl")
    assert [json.loads(line)["text"] for line in (toy / "out.jsonl").read_text().splitlines()] == output
    assert "summary_size" in regard("show", toy / "m")


def test_errors_name_the_fault(regard, toy):
    def error_of(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code != 0
        return str(result.exception)

    train = ("train", toy / "m", "--task", "caption", "--device", "cpu")
    assert "give two, the features and then the captions" in error_of(*train, "--train", toy / "train.npy")
    assert "no training captions" in error_of(*train)
    uneven = error_of(*train, "--train", toy / "train.npy", "--train", toy / "test.txt")
    assert "180 rows" in uneven
    assert "45 lines" in uneven
    unnamed = error_of(*train, "--train", toy / "train.arrow", "--train", toy / "train.txt")
    assert "several columns hold lists of numbers: seen, other" in unnamed
    files = ["--train", toy / "train.npy", "--train", toy / "train.txt"]
    regard(*train, *files, "--updates", 1, *SMALL[4:])
    np.save(toy / "wide.npy", np.zeros((2, 5)))
    for command in (
        ("caption", toy / "m", toy / "wide.npy"),
        ("evaluate", toy / "m", toy / "wide.npy", toy / "test.txt"),
    ):
        assert "5 features in a row, and the model was trained on 2" in error_of(*command)
    assert "raise --beam" in error_of("caption", toy / "m", toy / "test.npy", "--n-best", 9)
    assert "leave out --scores" in error_of("caption", toy / "m", toy / "test.npy", "--json", "--scores")
    assert "then the references" in error_of("evaluate", toy / "m", toy / "test.npy")
    assert "--gold applies to a model for translating" in error_of(
        "evaluate", toy / "m", toy / "test.npy", toy / "test.txt", "--gold", toy / "test.txt"
    )


def test_scenes(regard, tmp_path):
    """A short training: whole sentences may be wrong, but most words are right."""
    splits = Scenes().splits(train=300, valid=30, test=1, seed=1)
    for name, examples in (("train", splits.train), ("valid", splits.valid)):
        np.save(
            tmp_path / f"{name}.npy", np.array([example.features for example in examples], dtype=np.float32)
        )
        (tmp_path / f"{name}.txt").write_text("".join(f"{example.target}\n" for example in examples))
    files = [
        word
        for name in ("train", "valid")
        for suffix in ("npy", "txt")
        for word in (f"--{name}", tmp_path / f"{name}.{suffix}")
    ]
    report = json.loads(regard("train", tmp_path / "m", "--task", "caption", *files, *SMALL, "--json"))
    assert report["validation"]["token_accuracy"] >= 0.6
