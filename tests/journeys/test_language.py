"""Language models through the command line: train on a toy language, sample, score and show attention.

A sentence says that a child likes one thing or two; its grammar is exact, so that every sample is legal or not. In
continuous text lines of Ann and Bob alternate: only a state that is carried past the end of a line can predict who is
next.
"""

import json
import math
import random
import re

import pytest

pytestmark = pytest.mark.journey

LEGAL = re.compile(r"(Ann|Bob) likes (cats|dogs|tea)( and (cats|dogs|tea))? \.")
SIZE = 24


@pytest.fixture
def text(tmp_path):
    rng = random.Random(3)

    def line(number):
        things = rng.choices(["cats", "dogs", "tea"], k=rng.randint(1, 2))
        return f"{('Ann', 'Bob')[number % 2]} likes {' and '.join(things)} .\n"

    (tmp_path / "train.txt").write_text("".join(line(k) for k in range(600)))
    (tmp_path / "valid.txt").write_text("".join(line(k) for k in range(100)))
    return tmp_path


def train(regard, folder, cell, mode, updates):
    options = [
        *(f"model.cell={cell}", f"model.embedding_size={SIZE}", f"model.state_size={SIZE}"),
        *("model.dropout=0.0", f"data.mode={mode}", "data.steps=12"),
        *("training.learning_rate=0.02", "training.warmup=5", f"training.validate_every={updates}"),
        *("training.batch_sentences=16",),
    ]
    if cell != "lstm":
        options += [f"model.memory.size={SIZE}", f"model.memory.span={20 if mode == 'continuous' else 0}"]
    return json.loads(
        regard(
            *("train", folder / "model", "--task", "language_model", "--train", folder / "train.txt"),
            *("--valid", folder / "valid.txt", "--updates", updates, "--device", "cpu", "--json"),
            *(part for option in options for part in ("--set", option)),
        )
    )


@pytest.mark.parametrize("mode", ["sentences", "continuous"])
@pytest.mark.parametrize("cell", ["lstm", "rnn-sum", "lstmn"])
def test_a_language_is_learned(regard, text, cell, mode):
    report = train(regard, text, cell, mode, updates=150 if mode == "sentences" else 300)
    validation = report["validation"]
    # nats per line: one or two of three things, and the name unless it is known
    nats = 1.5 * math.log(3) + math.log(2) + (math.log(2) if mode == "sentences" else 0)
    # a name, likes, on average two of things and "and", a full stop and the end symbol
    assert validation["perplexity"] <= 1.06 * math.exp(nats / 6)
    model = text / "model"
    options = ("-n", 20, "--max-length", 12, "--top-p", "0.9", "--device", "cpu")
    samples = regard("sample", model, *options).splitlines()
    assert len(samples) == 20
    assert all(LEGAL.fullmatch(line) for line in samples), samples
    assert len(set(samples)) > 5
    assert regard("sample", model, *options).splitlines() == samples
    assert regard("sample", model, *options, "--seed", 2).splitlines() != samples
    prompted = regard("sample", model, "--prompt", "Ann likes", *options).splitlines()
    assert all(line.startswith("Ann likes ") and LEGAL.fullmatch(line) for line in prompted), prompted

    flags = ("--continuous",) if mode == "continuous" else ()
    scores = json.loads(regard("score", model, text / "valid.txt", *flags, "--summary", "--json"))
    for name in ("perplexity", "bits_per_character"):
        assert scores[name] == pytest.approx(validation[name], rel=1e-3)
    lines = "Ann likes tea .\nlikes . Ann tea\n"
    legal, illegal = (float(row.split("\t")[0]) for row in regard("score", model, stdin=lines).splitlines())
    assert legal > illegal + 5
    if mode == "continuous":
        turns = ["Ann likes tea .\nBob likes tea .\n", "Ann likes tea .\nAnn likes tea .\n"]
        bob, ann = (
            float(regard("score", model, "--continuous", stdin=lines).splitlines()[1].split("\t")[0])
            for lines in turns
        )
        assert bob > ann + 1
    if cell != "lstm":
        plot = text / "reading.png"
        shown = regard("read", model, "Ann likes cats and tea .", "--plot", plot)
        assert "[tea]" in shown
        assert plot.stat().st_size > 1000
