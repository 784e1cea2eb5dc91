"""Translators small enough for a laptop's CPU."""

from regard.training.presets.preset import Preset, with_decoder

SMALL_TRAINING: Preset = {
    "optimizer": "adam",
    "rate": 0.001,
    "schedule": "cosine",
    "warmup": 200,
    "clip": 1.0,
    "label_smoothing": 0.1,
    "batch_sentences": 64,
    "batch_tokens": 4000,
    "max_epochs": 10.0,
    "select": "bleu",
}


def rnnsearch_small() -> Preset:
    """RNNsearch small enough for a laptop's CPU: 256 units, Adam, dropout."""
    return {
        "data": {"max_length": 80},
        "model": {
            "encoder": {"cell": "gru", "embedding_size": 256, "state_size": 256, "dropout": 0.3},
            "decoder": {
                "kind": "bahdanau",
                "cell": "gru",
                "embedding_size": 256,
                "state_size": 512,
                "attention": {"energy": "additive", "size": 256},
                "readout_size": 256,
                "dropout": 0.3,
            },
        },
        "training": dict(SMALL_TRAINING),
    }


def luong_small() -> Preset:
    """Luong's model small enough for a laptop's CPU: one BiLSTM of 256 each way, general score, input feeding."""
    return {
        "data": {"max_length": 80},
        "model": {
            "encoder": {"cell": "lstm", "embedding_size": 256, "state_size": 256, "dropout": 0.3},
            "decoder": {
                "kind": "luong",
                "cell": "lstm",
                "embedding_size": 256,
                "state_size": 512,
                "attention": {"energy": "bilinear"},
                "readout_size": 512,
                "input_feeding": True,
                "bridge": "copy",
                "dropout": 0.3,
            },
        },
        "training": dict(SMALL_TRAINING),
    }


def rnnencdec_small() -> Preset:
    """The fixed-vector model at the size of rnnsearch-small, for comparison."""
    over = {
        "model": {
            "decoder": {
                "kind": "cho",
                "cell": "gru",
                "embedding_size": 256,
                "state_size": 512,
                "readout_size": 256,
                "dropout": 0.3,
            }
        }
    }
    return with_decoder(rnnsearch_small(), over)


def sutskever_small() -> Preset:
    """Sutskever's model small enough for a laptop's CPU: two LSTM layers of 384, the source backwards."""
    stack = {"cell": "lstm", "embedding_size": 256, "state_size": 384, "num_layers": 2, "dropout": 0.3}
    return {
        "data": {"max_length": 80},
        "model": {
            "encoder": {**stack, "bidirectional": False, "reverse": True},
            "decoder": {"kind": "sutskever", **stack},
        },
        "training": dict(SMALL_TRAINING),
    }


def characters() -> Preset:
    """Spelling to pronunciation, lemma to form, date to date: short strings, small vocabularies, one GRU each way."""
    return {
        "data": {"max_length": 100},
        "tokenizer": {"source": "char", "target": "char"},
        "model": {
            "encoder": {"cell": "gru", "embedding_size": 64, "state_size": 128, "dropout": 0.2},
            "decoder": {
                "kind": "bahdanau",
                "cell": "gru",
                "embedding_size": 64,
                "state_size": 256,
                "attention": {"energy": "additive", "size": 128},
                "readout_size": 128,
                "dropout": 0.2,
            },
        },
        "training": {**SMALL_TRAINING, "rate": 0.002, "max_epochs": 20.0, "select": "exact_match"},
    }
