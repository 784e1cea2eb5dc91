"""Settings so small that everything is measured in seconds, and the repository's root where `benchmarks` is found."""

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
