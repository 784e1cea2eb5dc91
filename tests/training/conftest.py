"""Runs of a second or less: a copying task of five words, models of a few units."""

import random

import pytest
import torch

from regard.configuration import merge
from regard.models import Seq2Seq
from regard.text import SentencePair
from regard.training.config import DataConfig, TokenizerConfig, TrainingConfig
from regard.training.configure import configure
from regard.training.fabric import build_fabric
from regard.training.tasks.translate.prepare import prepare

WORDS = "a b c d e"


def _pairs(count, seed=0):
    rng = random.Random(seed)
    lines = [" ".join(rng.choices(WORDS.split(), k=rng.randint(1, 6))) for _ in range(count)]
    return [SentencePair(line, line.upper()) for line in lines]


@pytest.fixture
def pairs():
    """Make so many pairs."""
    return _pairs


@pytest.fixture
def run_config():
    """A whole run's configuration: tiny, without chance but for the seed, five updates; anything laid over it."""

    def build(**over):
        tiny = {
            "preset": "rnnsearch-small",
            "tokenizer": {"source": "word", "target": "word"},
            "model": {
                "encoder": {"embedding_size": 4, "state_size": 4, "dropout": 0.0},
                "decoder": {
                    "embedding_size": 4,
                    "state_size": 8,
                    "attention": {"size": 4},
                    "readout_size": 4,
                    "dropout": 0.0,
                },
            },
            "training": {
                "rate": 0.01,
                "schedule": "constant",
                "warmup": 0,
                "label_smoothing": 0.0,
                "batch_sentences": 8,
                "max_epochs": 0.0,
                "max_updates": 5,
                "select": "loss",
                "device": "cpu",
            },
        }
        return configure(merge(tiny, over))

    return build


@pytest.fixture(scope="session")
def fabric():
    return build_fabric(TrainingConfig(max_updates=1, device="cpu"))


@pytest.fixture
def prepared(pairs):
    """Forty pairs to learn from and ten to validate with, as ids."""
    return prepare(
        pairs(40), pairs(10, seed=1), DataConfig(), TokenizerConfig(source="word", target="word"), seed=1
    )


@pytest.fixture
def small_model(run_config, prepared):
    """A model for `prepared`, the same at each call."""

    def build(seed=1, **over):
        torch.manual_seed(seed)
        config = run_config(**over).model
        return Seq2Seq(config, prepared.source_tokenizer.size, prepared.target_tokenizer.size)

    return build
