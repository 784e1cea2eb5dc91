"""Settings so small that everything is measured in seconds, and the repository's root where `benchmarks` is found."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.corpora import Corpus
from benchmarks.settings import Setting
from benchmarks.training import TrainingResult


@pytest.fixture
def toy() -> Setting:
    """A model of a few hundred weights on sentences of two to six words."""
    corpus = Corpus(types=20, shortest=2, longest=6, train=40, valid=4, zipf=True)
    return Setting("toy", corpus, embedding_size=5, encoder_size=4, batch=8, updates=5, output_words=4)


@pytest.fixture
def longer(toy: Setting) -> Setting:
    """The same on longer sentences: ``regard translate`` always allows nine words."""
    return replace(toy, corpus=replace(toy.corpus, shortest=8, longest=12), output_words=10)


@pytest.fixture
def result() -> Callable[..., TrainingResult]:
    """Builds the result of four timed updates after one of warm-up, from tokens per second."""

    def build(speed: float, loss: float = 3.0, peak: int = 2**20) -> TrainingResult:
        return TrainingResult([99.0, 1.0, 1.0, 1.0, 1.0], [7, *[speed] * 4], [9.0, 8, 7, 6, loss], peak, 1)

    return build


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """24 pairs, the last three of them with gold links."""
    pairs = [("a b", "B A"), ("c", "C"), ("b c", "C B")] * 8
    folder = tmp_path / "corpus"
    folder.mkdir()
    for side, name in ((0, "src"), (1, "tgt")):
        (folder / name).write_text("".join(f"{pair[side]}\n" for pair in pairs))
    (folder / "both").write_text("".join(f"{source} ||| {target}\n" for source, target in pairs))
    gold = {
        "dev": {"start": 21, "count": 1, "sure": {"0": [[0, 1]]}, "possible": {"0": [[0, 1], [1, 0]]}},
        "test": {"start": 22, "count": 2, "sure": {"0": [[0, 0]], "1": [[0, 1], [1, 0]]}, "possible": {}},
    }
    (folder / "gold.json").write_text(json.dumps(gold))
    return folder
