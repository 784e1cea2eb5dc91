"""The command line as a user meets it: arguments and standard input in; status, output and messages out."""

import io
import random
import sys
from collections import namedtuple

import pytest

from regard.cli import main
from regard.text import SentencePair
from regard.training.configure import configure
from regard.training.run import run_training

Ended = namedtuple("Ended", "status out err")

TINY = {
    "preset": "rnnsearch-small",
    "tokenizer": {"source": "word", "target": "word"},
    "model": {
        "encoder": {"embedding_size": 8, "state_size": 8, "dropout": 0.0},
        "decoder": {
            "embedding_size": 8,
            "state_size": 16,
            "attention": {"size": 8},
            "readout_size": 8,
            "dropout": 0.0,
        },
    },
    "training": {
        "learning_rate": 0.02,
        "schedule": "constant",
        "warmup": 0,
        "label_smoothing": 0.0,
        "batch_sentences": 16,
        "max_epochs": 0.0,
        "max_updates": 20,
        "validate_every": 10,
        "device": "cpu",
    },
}


def _pairs(count, seed):
    rng = random.Random(seed)
    lines = [" ".join(rng.choices(["a", "b", "c", "d", "e"], k=rng.randint(1, 6))) for _ in range(count)]
    return [SentencePair(line, line.upper()) for line in lines]


@pytest.fixture(scope="session")
def tiny():
    """What makes a run small enough for a test, as a configuration."""
    return TINY


class _Typed(io.TextIOWrapper):
    def isatty(self):
        return True


@pytest.fixture
def regard(monkeypatch, capsys):
    """Run the command line in this process, up to its exit status."""

    def run(*arguments, stdin=b"", typed=False):
        monkeypatch.setattr(sys, "argv", ["regard", *map(str, arguments)])
        text = stdin if isinstance(stdin, bytes) else stdin.encode()
        monkeypatch.setattr(sys, "stdin", (_Typed if typed else io.TextIOWrapper)(io.BytesIO(text)))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Ended(ended.value.code or 0, out, err)

    return run


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """A model folder: words a to e become capitals, more or less."""
    folder = tmp_path_factory.mktemp("model") / "attending"
    run_training(folder, configure(TINY), train=_pairs(80, 0), valid=_pairs(10, 1))
    return folder


@pytest.fixture(scope="session")
def fixed_model(tmp_path_factory):
    """A model without attention."""
    config = {**TINY, "model": {"encoder": TINY["model"]["encoder"]}}
    folder = tmp_path_factory.mktemp("model") / "fixed"
    decoder = {"kind": "cho", "embedding_size": 8, "state_size": 16, "readout_size": 8, "dropout": 0.0}
    run_training(
        folder, configure(config, {"model": {"decoder": decoder}}), train=_pairs(80, 0), valid=_pairs(10, 1)
    )
    return folder


@pytest.fixture
def data(tmp_path):
    """A folder of test files: parallel, tab-separated, with gold links."""
    pairs = _pairs(12, 2)
    (tmp_path / "test.src").write_text("".join(f"{pair.source}\n" for pair in pairs))
    (tmp_path / "test.tgt").write_text("".join(f"{pair.target}\n" for pair in pairs))
    (tmp_path / "test.tsv").write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in pairs))
    (tmp_path / "swapped.tsv").write_text("".join(f"{pair.target}\tnote\t{pair.source}\n" for pair in pairs))
    words = [len(pair.source.split()) for pair in pairs]
    (tmp_path / "test.links").write_text(
        "".join(" ".join(f"{k}-{k}" for k in range(count)) + "\n" for count in words)
    )
    return tmp_path
