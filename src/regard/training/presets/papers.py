"""The papers' models with the papers' numbers, each with its section.

What they do not copy: the papers' data and their shortlists' handling of unknown words; sentences above `max_length`
tokens are left out as there.
"""

from regard.training.presets.preset import Preset, with_decoder


def rnnsearch_50() -> Preset:
    """RNNsearch-50 of Bahdanau, Cho & Bengio 2015 (A.2.3, B.1, B.2): 30,000 words, up to 50 of them a sentence."""
    return {
        "data": {"max_length": 50},
        "tokenizer": {"source": "word", "target": "word", "source_size": 30_000, "target_size": 30_000},
        "model": {
            "initialization": "bahdanau",
            "encoder": {"cell": "gru", "embedding_size": 620, "state_size": 1000, "bidirectional": True},
            "decoder": {
                "kind": "bahdanau",
                "cell": "gru",
                "embedding_size": 620,
                "state_size": 1000,
                "attention": {"energy": "additive", "size": 1000},
                "readout_size": 500,
            },
        },
        "training": {
            "optimizer": "adadelta",
            "rate": 1.0,
            "normalize": "sentences",
            "clip": 1.0,
            "batch_sentences": 80,
            "batch_tokens": 80 * 51,
            "max_epochs": 5.0,
            "validate_every": 5000,
            "select": "bleu",
        },
    }


def rnnencdec_50() -> Preset:
    """RNNencdec-50, the fixed-vector model that RNNsearch is compared with (Bahdanau et al. 2015, §4; Cho 2014)."""
    over = {
        "model": {
            "encoder": {"bidirectional": False},
            "decoder": {
                "kind": "cho",
                "cell": "gru",
                "embedding_size": 620,
                "state_size": 1000,
                "readout_size": 500,
            },
        }
    }
    return with_decoder(rnnsearch_50(), over)


def sutskever() -> Preset:
    """Sutskever, Vinyals & Le 2014 (§3.4): four LSTM layers of 1000, the source backwards, SGD of 0.7.

    The rate is halved every half epoch after the fifth, and the gradient is a sentence's mean.
    """
    stack = {"cell": "lstm", "embedding_size": 1000, "state_size": 1000, "num_layers": 4}
    return {
        "data": {"max_length": 100},
        "tokenizer": {"source": "word", "target": "word", "source_size": 160_000, "target_size": 80_000},
        "model": {
            "initialization": "sutskever",
            "encoder": {**stack, "bidirectional": False, "reverse": True},
            "decoder": {"kind": "sutskever", **stack},
        },
        "training": {
            "optimizer": "sgd",
            "rate": 0.7,
            "schedule": "decay",
            "decay_from": 5.0,
            "decay_every": 0.5,
            "decay_factor": 0.5,
            "normalize": "sentences",
            "clip": 5.0,
            "batch_sentences": 128,
            "batch_tokens": 128 * 101,
            "max_epochs": 7.5,
            "select": "bleu",
        },
    }


def luong_general() -> Preset:
    """Luong, Pham & Manning 2015 (§4.1): global attention, general score, input feeding, dropout 0.2.

    The rate is halved every epoch after the eighth, and the gradient is a sentence's mean.
    """
    stack = {"cell": "lstm", "embedding_size": 1000, "state_size": 1000, "num_layers": 4, "dropout": 0.2}
    return {
        "data": {"max_length": 50},
        "tokenizer": {"source": "word", "target": "word", "source_size": 50_000, "target_size": 50_000},
        "model": {
            "initialization": "luong",
            "encoder": {**stack, "bidirectional": False, "reverse": True},
            "decoder": {
                "kind": "luong",
                **stack,
                "attention": {"energy": "bilinear"},
                "readout_size": 1000,
                "input_feeding": True,
                "bridge": "copy",
            },
        },
        "training": {
            "optimizer": "sgd",
            "rate": 1.0,
            "schedule": "decay",
            "decay_from": 8.0,
            "decay_every": 1.0,
            "decay_factor": 0.5,
            "normalize": "sentences",
            "clip": 5.0,
            "batch_sentences": 128,
            "batch_tokens": 128 * 51,
            "max_epochs": 12.0,
            "select": "bleu",
        },
    }
