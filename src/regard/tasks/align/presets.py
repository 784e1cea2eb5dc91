"""Presets of aligners."""

from collections.abc import Callable

from regard.tasks.spec import Preset

TRAINING: Preset = {
    "learning_rate": 0.003,
    "schedule": "linear",
    "warmup": 100,
    "batch_sentences": 256,
    "batch_tokens": 8000,
    "max_epochs": 3.0,
}


def aligner() -> Preset:
    """Hidden Markov models, and a network of 128 units each way that learns from them; minutes on two cores."""
    return {
        "task": "align",
        "tokenizer": {"source_size": 50_000, "target_size": 50_000, "lowercase": True},
        "model": {
            "encoder": {"cell": "gru", "embedding_size": 128, "state_size": 128, "dropout": 0.2},
            "query": "foresight",
            "attention_size": 128,
            "hmm_share": 0.5,
        },
        "training": dict(TRAINING),
    }


PRESETS: dict[str, Callable[[], Preset]] = {"aligner": aligner}
