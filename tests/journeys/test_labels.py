"""Classifiers and taggers learn what counting words cannot tell, to a stated score in seconds.

Classifying: which of two letters comes first among others; of two texts, whether it is the same one in both. Every bag
of words occurs with either label equally often. Tagging: a word's tag is the next word's kind.
"""

import json
import random
from collections import Counter, defaultdict

import pytest
import torch

from regard.checkpoint import ModelFolder

pytestmark = pytest.mark.journey

SIZE = 16


def lines():
    """Lines in twos that differ in the order of a and b alone; which comes first is the label."""
    rng = random.Random(5)
    seen = set()
    while len(seen) < 300:
        others = tuple(rng.choices("uvwx", k=rng.randint(1, 4)))
        first, second = sorted(rng.choices(range(len(others) + 1), k=2))
        seen.add((*others[:first], "1", *others[first:second], "2", *others[second:]))
    order = sorted(seen)
    rng.shuffle(order)
    return [
        (one, " ".join(frame).replace("1", one).replace("2", other))
        for frame in order
        for one, other in ("ab", "ba")
    ]


def pairs():
    """Two lines each, either label as often for every two bags."""
    rng = random.Random(6)
    by_first = defaultdict(list)
    for first, line in lines():
        by_first[first].append(line)
    made = []
    for _ in range(300):
        j, k = rng.randrange(len(by_first["a"])), rng.randrange(len(by_first["a"]))
        for one in "ab":
            for other in "ab":
                label = "same" if one == other else "other"
                made.append((label, by_first[one][j], by_first[other][k]))
    return made


def write(path, rows):
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    return path


def train(regard, folder, files, *options):
    encoder = {"embedding_size": SIZE, "state_size": SIZE, "dropout": 0.0}
    settings = [f"model.encoder.{name}={value}" for name, value in encoder.items()]
    settings += ["training.learning_rate=0.02", "training.warmup=10", *options]
    return json.loads(
        regard(
            *(
                "train",
                folder,
                "--train",
                files["train"],
                "--valid",
                files["valid"],
                "--device",
                "cpu",
                "--json",
            ),
            *(part for option in settings for part in ("--set", option)),
        )
    )


def split(folder, rows, size):
    """Training, validation and test files, in the rows' order."""
    parts = {"train": rows[2 * size :], "valid": rows[:size], "test": rows[size : 2 * size]}
    return {name: write(folder / f"{name}.tsv", part) for name, part in parts.items()}


def test_no_bag_of_words_tells():
    for rows in (lines(), pairs()):
        labels = defaultdict(Counter)
        for label, *texts in rows:
            labels[tuple(" ".join(sorted(text.split())) for text in texts)][label] += 1
        assert all(len(set(count.values())) == 1 and len(count) == 2 for count in labels.values())


@pytest.mark.parametrize("pooling", ["last", "mean", "attention"])
def test_every_pooling_reads_the_order(regard, tmp_path, pooling):
    files = split(tmp_path, lines(), 60)
    options = ["training.max_epochs=6", f"model.pooling={pooling}", "model.dropout=0.0"]
    report = train(regard, tmp_path / "model", files, "task=classify", *options)
    assert report["validation"]["accuracy"] >= 0.95
    scores = json.loads(regard("evaluate", tmp_path / "model", files["test"], "--json"))
    assert scores["accuracy"] >= 0.95
    rows = [row.split("\t") for row in files["test"].read_text().splitlines()]
    out = regard("classify", tmp_path / "model", stdin="".join(f"{text}\n" for _, text in rows)).splitlines()
    right = sum(label == found for (label, _), found in zip(rows, out, strict=True))
    assert right / len(rows) == pytest.approx(scores["accuracy"])


def test_two_texts(regard, tmp_path):
    files = split(tmp_path, pairs(), 120)
    options = ["training.max_epochs=4", "model.num_texts=2", "model.hidden_size=16", "model.dropout=0.0"]
    train(regard, tmp_path / "model", files, "task=classify", *options)
    assert json.loads(regard("evaluate", tmp_path / "model", files["test"], "--json"))["accuracy"] >= 0.9


def tagged():
    """A word's tag says whether the next word is a vowel, a consonant or none."""
    rng = random.Random(7)
    made = []
    for _ in range(600):
        words = rng.choices("aeioubcdfg", k=rng.randint(2, 7))
        tags = ["V" if word in "aeiou" else "C" for word in words[1:]] + ["end"]
        made.append((" ".join(words), " ".join(tags)))
    return made


def test_the_next_word_is_known_to_those_alone_that_read_both_ways(regard, tmp_path):
    files = split(tmp_path, tagged(), 100)
    scores = {}
    for ways in ("true", "false"):
        options = ["task=tag", "training.max_epochs=6", f"model.encoder.bidirectional={ways}"]
        train(regard, tmp_path / ways, files, *options)
        scores[ways] = json.loads(regard("evaluate", tmp_path / ways, files["test"], "--json"))
    assert scores["true"]["accuracy"] >= 0.98
    assert scores["true"]["sentence_accuracy"] >= 0.9
    # the future is a coin's throw, and so is where it ends
    assert scores["false"]["accuracy"] <= 0.7


def test_a_tagger_that_reads_one_way_learns_the_word_before(regard, tmp_path):
    """So that the one above fails for its direction, and for nothing else."""
    rows = [(" ".join(words.split()[::-1]), " ".join(tags.split()[::-1])) for words, tags in tagged()]
    files = split(tmp_path, rows, 100)
    options = ["task=tag", "training.max_epochs=6", "model.encoder.bidirectional=false"]
    train(regard, tmp_path / "model", files, *options)
    assert json.loads(regard("evaluate", tmp_path / "model", files["test"], "--json"))["accuracy"] >= 0.98


def language_model(regard, folder, texts):
    """Train a small language model of two layers on the lines."""
    text = folder / "text.txt"
    text.write_text("".join(f"{line}\n" for line in texts))
    sizes = ("embedding_size=12", "state_size=14", "num_layers=2", "tie=false", "dropout=0.0")
    options = [part for size in sizes for part in ("--set", f"model.{size}")]
    regard(
        *(
            "train",
            folder / "language_model",
            "--task",
            "language_model",
            "--train",
            text,
            "--updates",
            40,
            "--device",
            "cpu",
            "--json",
        ),
        *(*options, "--set", "training.batch_sentences=8"),
    )
    return ModelFolder(folder / "language_model").load().model


def weights(folder, name="last"):
    return dict(ModelFolder(folder).load(name).model.named_parameters())


def test_fine_tuning_starts_from_the_language_model_and_unfreezes_from_the_top(regard, tmp_path):
    rows = lines()
    files = split(tmp_path, rows, 60)
    trained = language_model(regard, tmp_path, [text for _, text in rows])
    pretrained = [
        *(f"pretrained.encoder={tmp_path / 'language_model'}", "preset=classifier-pretrained"),
        *("training.unfreeze_every=1", "training.learning_rate=0.01"),
    ]
    # in the second epoch the head and the upper layer are trained
    report = train(regard, tmp_path / "half", files, *pretrained, "training.max_epochs=2")
    assert report["epochs"] == 2
    found = weights(tmp_path / "half")
    theirs = dict(trained.named_parameters())
    assert torch.equal(found["encoder.embedding.E"], theirs["embedding.E"])
    layers = {k: [name for name in theirs if name.startswith(f"stack.cells.{k}.")] for k in (0, 1)}
    assert all(layers.values())
    assert all(torch.equal(found[f"encoder.{name}"], theirs[name]) for name in layers[0])
    assert not any(torch.equal(found[f"encoder.{name}"], theirs[name]) for name in layers[1])
    # and in the end all are, and the task is solved
    train(regard, tmp_path / "whole", files, *pretrained, "training.max_epochs=16")
    found = weights(tmp_path / "whole")
    assert not any(torch.equal(found[f"encoder.{name}"], theirs[name]) for name in layers[0])
    assert not torch.equal(found["encoder.embedding.E"], theirs["embedding.E"])
    assert json.loads(regard("evaluate", tmp_path / "whole", files["test"], "--json"))["accuracy"] >= 0.9
