"""Presets of taggers."""

from collections.abc import Callable

from regard.tasks.classify.presets import SMALL_TRAINING
from regard.tasks.spec import Preset


def tagger() -> Preset:
    """A BiLSTM of 128 units per direction with a tag for every word, small enough for a laptop's CPU."""
    return {
        "task": "tag",
        "tokenizer": {"text": "word", "text_size": 20_000},
        "model": {"encoder": {"cell": "lstm", "embedding_size": 128, "state_size": 128, "dropout": 0.3}},
        "training": dict(SMALL_TRAINING),
    }


def lecture_traditional_rnn() -> Preset:
    """Lecture 5: h_t = sigm(W^{hx} x_t + W^{hh} h_{t−1}), y_t = W^{yh} h_t, an output for every input, no biases."""
    encoder = {"cell": "rnn-sigmoid", "bias": False, "bidirectional": False}
    return {
        "task": "tag",
        "tokenizer": {"text": "word", "text_size": 20_000},
        "model": {"encoder": {**encoder, "embedding_size": 128, "state_size": 128}},
        "training": dict(SMALL_TRAINING),
    }


PRESETS: dict[str, Callable[[], Preset]] = {
    "tagger": tagger,
    "lecture-traditional-rnn": lecture_traditional_rnn,
}
