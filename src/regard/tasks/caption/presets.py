"""Presets of captioners, small enough for a laptop's CPU."""

from collections.abc import Callable

from regard.tasks.spec import Preset
from regard.tasks.translate.presets import SMALL_TRAINING


def captioner() -> Preset:
    """Cho's decoder of 512 units, which reads the projected features at every step."""
    return {
        "task": "caption",
        "data": {"max_length": 100},
        "tokenizer": {"text": "word"},
        "model": {
            "summary_size": 256,
            "decoder": {
                "kind": "cho",
                "cell": "gru",
                "embedding_size": 256,
                "state_size": 512,
                "readout_size": 256,
                "dropout": 0.3,
            },
        },
        "training": dict(SMALL_TRAINING),
    }


def lecture_captioner() -> Preset:
    """Lecture 4: one to many, an RNN that reads one vector at every step, softmax(c + V s_t)."""
    return {
        "task": "caption",
        "data": {"max_length": 100},
        "tokenizer": {"text": "word"},
        "model": {
            "summary_size": 128,
            "decoder": {
                "kind": "cho",
                "cell": "rnn",
                "embedding_size": 128,
                "state_size": 128,
                "readout": "state",
            },
        },
        "training": {**SMALL_TRAINING, "label_smoothing": 0.0},
    }


PRESETS: dict[str, Callable[[], Preset]] = {
    "captioner": captioner,
    "lecture-captioner": lecture_captioner,
}
