"""Every decoder and every cell learns to copy, reverse or upper-case letters, to a stated score in seconds.

A line has one to five letters out of six; no test line occurs in the training set. The gold link of a letter is known.
"""

import json
import random
import shutil

import pytest

pytestmark = pytest.mark.journey

# the function of a letter, and the source position of the i-th of n
TASKS = {
    "copy": (str, lambda i, n: i),
    "reverse": (str, lambda i, n: n - 1 - i),
    "upper-case": (str.upper, lambda i, n: i),
}
SIZE = 32


def lines():
    """Up to 1,500 different lines in random order."""
    rng = random.Random(5)
    generated = sorted({tuple(rng.choices("abcdef", k=rng.randint(1, 5))) for _ in range(1500)})
    rng.shuffle(generated)
    return generated


@pytest.fixture
def task(tmp_path):
    """Write a task's files: training and validation as TSV, the test set as parallel files with gold links."""

    def write(name, blank=" "):
        letter, origin = TASKS[name]

        def target(line):
            return [letter(line[origin(i, len(line))]) for i in range(len(line))]

        generated = lines()
        for file, part in (("train.tsv", generated[200:]), ("valid.tsv", generated[:100])):
            rows = [f"{blank.join(line)}\t{blank.join(target(line))}\n" for line in part]
            (tmp_path / file).write_text("".join(rows))
        test = generated[100:200]
        (tmp_path / "test.source").write_text("".join(f"{blank.join(line)}\n" for line in test))
        (tmp_path / "test.target").write_text("".join(f"{blank.join(target(line))}\n" for line in test))
        links = [" ".join(f"{origin(i, len(line))}-{i}" for i in range(len(line))) for line in test]
        (tmp_path / "test.links").write_text("".join(f"{line}\n" for line in links))
        return tmp_path

    return write


def train(regard, folder, *, kind, cell, updates, tokenizer="word", shared=False, **decoder):
    sizes = {
        "encoder": {"cell": cell, "embedding_size": SIZE, "state_size": SIZE, "dropout": 0.0},
        "decoder": {"kind": kind, "cell": cell, "embedding_size": SIZE, "state_size": 2 * SIZE, **decoder},
    }
    # a toy needs neither dropout nor label smoothing
    sizes["decoder"]["dropout"] = 0.0
    options = [
        f"model.{part}.{name}={json.dumps(value)}" for part in sizes for name, value in sizes[part].items()
    ]
    options += ["training.learning_rate=0.01", "training.warmup=10", "training.label_smoothing=0.0"]
    options += [f"training.validate_every={updates}", f"tokenizer.shared={json.dumps(shared)}"]
    return json.loads(
        regard(
            *("train", folder / "model", "--train", folder / "train.tsv", "--valid", folder / "valid.tsv"),
            *(
                "--preset",
                "characters",
                "--tokenizer",
                tokenizer,
                "--updates",
                updates,
                "--device",
                "cpu",
                "--json",
            ),
            *(part for option in options for part in ("--set", option)),
        )
    )


def evaluate(regard, folder, *options):
    """The scores of the test set; the output of ``translate`` must have the same exact match."""
    pair = [folder / "test.source", folder / "test.target"]
    report = json.loads(regard("evaluate", folder / "model", *pair, *options, "--json"))
    output = regard("translate", folder / "model", pair[0]).splitlines()
    references = pair[1].read_text().splitlines()
    assert len(output) == len(references)
    right = sum(line == reference for line, reference in zip(output, references, strict=True))
    assert right / len(references) == pytest.approx(report["exact_match"])
    return report


ATTENDING = [
    ("reverse", {"kind": "bahdanau", "cell": "gru"}),
    ("copy", {"kind": "luong", "cell": "lstm", "input_feeding": True}),
    ("upper-case", {"kind": "luong", "cell": "lstm", "input_feeding": False}),
]
FIXED = [
    ("upper-case", {"kind": "cho", "cell": "gru"}),
    ("reverse", {"kind": "sutskever", "cell": "lstm"}),
]


@pytest.mark.parametrize(
    ("name", "decoder"), ATTENDING, ids=["bahdanau", "luong", "luong without input feeding"]
)
def test_decoders_with_attention(regard, task, name, decoder):
    folder = task(name)
    report = train(regard, folder, updates=120, **decoder)
    assert report["validation"]["exact_match"] >= 0.9
    scores = evaluate(regard, folder, "--gold", folder / "test.links", "--out", folder / "report")
    assert scores["exact_match"] >= 0.9
    assert scores["bleu"] >= 90
    assert scores["aer"] <= 0.2
    links = regard("align", folder / "model", folder / "test.source", folder / "test.target")
    assert links == (folder / "report" / "links.txt").read_text()
    # beam search returns the attention of its words: forced decoding of the output gives the same links
    translated = regard("translate", folder / "model", folder / "test.source", "--alignments", "--beam", 4)
    output, links = zip(*(line.split("\t") for line in translated.splitlines()), strict=True)
    (folder / "output").write_text("".join(f"{line}\n" for line in output))
    forced = regard("align", folder / "model", folder / "test.source", folder / "output").splitlines()
    assert list(links) == forced
    assert sum(map(len, map(str.split, forced))) > 200


@pytest.mark.parametrize(("name", "decoder"), FIXED, ids=["cho", "sutskever"])
def test_decoders_with_a_fixed_context(regard, task, name, decoder):
    folder = task(name)
    train(regard, folder, updates=220, **decoder)
    scores = evaluate(regard, folder)
    assert scores["exact_match"] >= 0.8
    assert "aer" not in scores


@pytest.mark.parametrize(
    ("cell", "updates"), [("rnn", 100), ("rnn-sigmoid", 250), ("lstm", 150), ("gru-torch", 100)]
)
def test_every_other_cell(regard, task, cell, updates):
    """Characters: there are no blanks between the letters, so that a line is one word."""
    folder = task("reverse", blank="")
    train(regard, folder, kind="bahdanau", cell=cell, updates=updates, tokenizer="char")
    assert evaluate(regard, folder)["exact_match"] >= 0.8


COPYING = "abcdef"
NEVER_WRITTEN = "uvwxyz"


@pytest.fixture
def rare_symbols(tmp_path):
    """Copy all letters but the first; u to z come only first in training, so that no training target has one.

    The test lines have two of them among the letters to be copied.
    """
    rng = random.Random(7)

    def write(name, count, copied):
        rows = set()
        while len(rows) < count:
            letters = rng.choices(COPYING, k=rng.randint(2, 5))
            for place in rng.sample(range(len(letters)), copied):
                letters[place] = rng.choice(NEVER_WRITTEN)
            first = rng.choice(COPYING + NEVER_WRITTEN)
            rows.add(f"{first} {' '.join(letters)}\t{' '.join(letters)}\n")
        (tmp_path / name).write_text("".join(sorted(rows)))

    write("train.tsv", 1200, 0)
    write("valid.tsv", 100, 0)
    write("rare.tsv", 100, 2)
    return tmp_path


def test_a_pointer_copies_symbols_that_no_training_target_has(regard, rare_symbols):
    """Plain attention has never written them; the pointer writes what it attends to, whatever that is."""
    folder = rare_symbols
    exact = {}
    for copy in (False, True):
        options = {"kind": "bahdanau", "cell": "gru", "copy": copy}
        report = train(regard, folder, updates=150, shared=True, **options)
        assert report["validation"]["exact_match"] >= 0.9, "both have learned to copy the others"
        scores = json.loads(regard("evaluate", folder / "model", folder / "rare.tsv", "--json"))
        exact[copy] = scores["exact_match"]
        shutil.rmtree(folder / "model")
    assert exact[False] <= 0.05
    assert exact[True] >= 0.8


def test_hard_monotonic_attention(regard, task):
    """Upper-casing is monotone: the alignment is found, and never goes back."""
    folder = task("upper-case")
    options = {"kind": "hard-monotonic", "cell": "lstm", "readout_size": SIZE}
    train(regard, folder, updates=150, **options)
    scores = evaluate(regard, folder, "--gold", folder / "test.links")
    assert scores["exact_match"] >= 0.9
    assert scores["aer"] <= 0.2
    translated = regard("translate", folder / "model", folder / "test.source", "--alignments", "--beam", 4)
    for line in translated.splitlines():
        places = [
            int(link.split("-")[0])
            for link in sorted(line.split("\t")[1].split(), key=lambda l: int(l.split("-")[1]))
        ]
        assert places == sorted(places)
