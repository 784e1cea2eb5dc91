"""Named starting points: the papers' models with the papers' numbers, and small ones for a CPU.

A preset is a function that returns a plain mapping with every number in sight; a configuration file and flags are
laid over it. Where a number is a paper's, its section is named. What the papers' presets do not copy: the papers'
data and their shortlists' handling of unknown words; sentences above `max_length` tokens are left out as there.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from regard.configuration import merge, one_of
from regard.models import DecoderConfig
from regard.training.config import RunConfig

Preset = dict[str, Any]


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
                "energy": "additive",
                "alignment_size": 1000,
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
    return _replaced_decoder(rnnsearch_50(), over)


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
            "schedule": "halving",
            "halve_from": 5.0,
            "halve_every": 0.5,
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
                "energy": "bilinear",
                "readout_size": 1000,
                "input_feeding": True,
                "bridge": "copy",
            },
        },
        "training": {
            "optimizer": "sgd",
            "rate": 1.0,
            "schedule": "halving",
            "halve_from": 8.0,
            "halve_every": 1.0,
            "normalize": "sentences",
            "clip": 5.0,
            "batch_sentences": 128,
            "batch_tokens": 128 * 51,
            "max_epochs": 12.0,
            "select": "bleu",
        },
    }


_SMALL_TRAINING: Preset = {
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
                "energy": "additive",
                "alignment_size": 256,
                "readout_size": 256,
                "dropout": 0.3,
            },
        },
        "training": dict(_SMALL_TRAINING),
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
                "energy": "bilinear",
                "readout_size": 512,
                "input_feeding": True,
                "bridge": "copy",
                "dropout": 0.3,
            },
        },
        "training": dict(_SMALL_TRAINING),
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
    return _replaced_decoder(rnnsearch_small(), over)


def sutskever_small() -> Preset:
    """Sutskever's model small enough for a laptop's CPU: two LSTM layers of 384, the source backwards."""
    stack = {"cell": "lstm", "embedding_size": 256, "state_size": 384, "num_layers": 2, "dropout": 0.3}
    return {
        "data": {"max_length": 80},
        "model": {
            "encoder": {**stack, "bidirectional": False, "reverse": True},
            "decoder": {"kind": "sutskever", **stack},
        },
        "training": dict(_SMALL_TRAINING),
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
                "energy": "additive",
                "alignment_size": 128,
                "readout_size": 128,
                "dropout": 0.2,
            },
        },
        "training": {**_SMALL_TRAINING, "rate": 0.002, "max_epochs": 20.0, "select": "exact_match"},
    }


PRESETS: dict[str, Callable[[], Preset]] = {
    "rnnsearch-small": rnnsearch_small,
    "luong-small": luong_small,
    "rnnencdec-small": rnnencdec_small,
    "sutskever-small": sutskever_small,
    "characters": characters,
    "rnnsearch-50": rnnsearch_50,
    "rnnencdec-50": rnnencdec_50,
    "sutskever": sutskever,
    "luong-general": luong_general,
}

DEFAULT_PRESET = "rnnsearch-small"


def _replaced_decoder(preset: Preset, over: Mapping[str, Any]) -> Preset:
    del preset["model"]["decoder"]
    return merge(preset, over)


def configure(*layers: Mapping[str, Any], preset: str | None = None) -> RunConfig:
    """A run's configuration: a preset, with layers laid over it in turn.

    A layer may ask for another kind of decoder; what the preset says of its own kind alone is then left out.

    Args:
        layers: mappings as a TOML file gives them; the last one wins. A layer may name the ``preset``.
        preset: the starting point; by default the one a layer names, or else `DEFAULT_PRESET`.

    Raises:
        ConfigError: an unknown preset, option or value.
    """
    merged: dict[str, Any] = {}
    for layer in layers:
        merged = merge(merged, layer)
    named = merged.pop("preset", None)
    chosen = preset or named or DEFAULT_PRESET
    one_of("preset", chosen, PRESETS)
    return RunConfig.from_mapping(merge(_for_kind(PRESETS[chosen](), merged), merged), "")


def _for_kind(preset: Preset, over: Mapping[str, Any]) -> Preset:
    """The preset without what a decoder of another kind, where one is asked for, has no use for."""
    model = over.get("model")
    decoder = model.get("decoder") if isinstance(model, Mapping) else None
    kind = decoder.get("kind") if isinstance(decoder, Mapping) else None
    if (
        not isinstance(kind, str)
        or kind not in DecoderConfig.variants
        or kind == preset["model"]["decoder"]["kind"]
    ):
        return preset
    known = {field.name for field in fields(DecoderConfig.variants[kind])}
    kept = {name: value for name, value in preset["model"]["decoder"].items() if name in known}
    return _replaced_decoder(preset, {"model": {"decoder": {"kind": kind, **kept}}})
