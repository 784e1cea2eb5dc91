"""A language of a few words, and runs of it."""

import random

import pytest
import torch

from regard.config import merge
from regard.tasks import prepare_task
from regard.training.configure import configure


def _lines(count, seed=0):
    rng = random.Random(seed)
    return [" ".join(rng.choices(["a", "b", "c", "d", "e"], k=rng.randint(1, 6))) for _ in range(count)]


@pytest.fixture
def lines():
    """Make lines at random."""
    return _lines


@pytest.fixture
def lm_config():
    """A whole run's configuration: tiny, five updates; anything laid over it."""

    def build(**over):
        tiny = {
            "task": "language_model",
            "model": {"embedding_size": 4, "state_size": 4, "dropout": 0.0},
            "training": {
                "learning_rate": 0.01,
                "schedule": "constant",
                "warmup": 0,
                "batch_sentences": 4,
                "max_epochs": 0.0,
                "max_updates": 5,
                "device": "cpu",
            },
        }
        return configure(merge(tiny, over))

    return build


@pytest.fixture
def lm_task(lm_config):
    """A task with its model built, the same at each call."""

    def build(train, valid=None, **over):
        task = prepare_task(lm_config(**over), train, valid)
        torch.manual_seed(1)
        task.build()
        return task

    return build
