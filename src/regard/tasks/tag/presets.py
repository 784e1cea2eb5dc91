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


PRESETS: dict[str, Callable[[], Preset]] = {
    "tagger": tagger,
}
