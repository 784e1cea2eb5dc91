"""Presets of taggers."""

from collections.abc import Callable

from regard.tasks.spec import Preset


def tagger() -> Preset:
    """A BiLSTM of 128 each way with a tag at every word, small enough for a laptop's CPU."""
    return {
        "task": "tag",
        "tokenizer": {"text": "word", "text_size": 20_000},
        "model": {"encoder": {"cell": "lstm", "embedding_size": 128, "state_size": 128, "dropout": 0.3}},
        "training": {
            "optimizer": "adam",
            "learning_rate": 0.002,
            "schedule": "cosine",
            "warmup": 100,
            "clip": 1.0,
            "batch_sentences": 32,
            "batch_tokens": 4000,
            "max_epochs": 10.0,
            "select": "accuracy",
        },
    }


PRESETS: dict[str, Callable[[], Preset]] = {
    "tagger": tagger,
}
