"""Translators for what can be attended with: a small one for each, beside the papers'; laid over `rnnsearch-small`."""

from typing import Any

from regard.configuration import merge
from regard.training.presets.papers import luong_general
from regard.training.presets.preset import Preset, with_decoder
from regard.training.presets.small import rnnsearch_small


def _with_attention(attention: dict[str, Any]) -> Preset:
    return merge(rnnsearch_small(), {"model": {"decoder": {"attention": attention}}})


def heads_small() -> Preset:
    """RNNsearch that asks by query, key and value with four heads (Vaswani et al. 2017, over recurrent states)."""
    return _with_attention({"energy": "qkv", "size": 256, "heads": 4})


def sparsemax_small() -> Preset:
    """RNNsearch whose alpha is exactly zero at most words (Martins & Astudillo 2016)."""
    return _with_attention({"normalizer": "sparsemax"})


def coverage_small() -> Preset:
    """RNNsearch that sees what it has looked at already (Tu et al. 2016), and is charged for looking again."""
    return merge(_with_attention({"coverage": True}), {"teaching": {"coverage": 0.1}})


def luong_local() -> Preset:
    """Luong, Pham & Manning 2015: the predictive window (local-p) of D = 10, general score, input feeding."""
    over = {"model": {"decoder": {"attention": {"window": "local-p", "reach": 10}}}}
    return merge(luong_general(), over)


def luong_monotonic() -> Preset:
    """Luong, Pham & Manning 2015: the monotonic window (local-m) of D = 10, general score, input feeding."""
    over = {"model": {"decoder": {"attention": {"window": "local-m", "reach": 10}}}}
    return merge(luong_general(), over)


def lstmn_shallow_small() -> Preset:
    """Shallow fusion of Cheng, Dong & Lapata 2016: two LSTMNs of 256 with RNNsearch's attention between them."""
    own_past = {"energy": "additive", "size": 128}
    return merge(
        rnnsearch_small(),
        {
            "model": {
                "encoder": {"cell": "lstmn", "bidirectional": False, "memory": own_past},
                "decoder": {"cell": "lstmn", "state_size": 256, "memory": own_past},
            }
        },
    )


def lstmn_deep_small() -> Preset:
    """Deep fusion of Cheng, Dong & Lapata 2016: an LSTMN of 256 whose memory takes up the source's own."""
    own_past = {"energy": "additive", "size": 128}
    over = {
        "model": {
            "encoder": {"cell": "lstmn", "bidirectional": False, "memory": own_past},
            "decoder": {
                "kind": "deep-fusion",
                "cell": "lstmn",
                "embedding_size": 256,
                "state_size": 256,
                "memory": own_past,
                "attention": {"energy": "additive", "size": 128},
                "dropout": 0.3,
            },
        }
    }
    return with_decoder(rnnsearch_small(), over)
