"""Presets of translators: the papers' models with the papers' numbers, small ones for a CPU, and the lectures' models.

A preset is a function that returns a plain mapping with all its numbers. Those of papers name the section each number
is from. They do not reproduce the papers' data or their treatment of unknown words; training sentences of more than
`max_length` tokens are left out as in the papers.
"""

from collections.abc import Callable, Mapping
from typing import Any

from regard.config import merge
from regard.tasks.spec import Preset


def rnnsearch_50() -> Preset:
    """RNNsearch-50 of Bahdanau, Cho & Bengio 2015 (A.2.3, B.1, B.2): 30,000 words, sentences of up to 50."""
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
            "learning_rate": 1.0,
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
    preset = rnnsearch_50()
    preset["model"]["encoder"]["bidirectional"] = False
    preset["model"]["decoder"] = {
        "kind": "cho",
        "cell": "gru",
        "embedding_size": 620,
        "state_size": 1000,
        "readout_size": 500,
    }
    return preset


def sutskever() -> Preset:
    """Sutskever, Vinyals & Le 2014 (§3.4): four LSTM layers of 1000, the source reversed, SGD of 0.7.

    The learning rate is halved every half epoch after the fifth, and the gradient is the mean over sentences.
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
            "learning_rate": 0.7,
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

    The learning rate is halved every epoch after the eighth, and the gradient is the mean over sentences.
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
            "learning_rate": 1.0,
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


SMALL_TRAINING: Preset = {
    "optimizer": "adam",
    "learning_rate": 0.001,
    "schedule": "cosine",
    "warmup": 200,
    "clip": 1.0,
    "label_smoothing": 0.1,
    "batch_sentences": 64,
    "batch_tokens": 4000,
    "max_epochs": 10.0,
    "select": "bleu",
}


def _small(cell: str, decoder: Mapping[str, Any]) -> Preset:
    """Small enough for a laptop's CPU: a bidirectional encoder of 256 each way, a decoder of 512, dropout."""
    return {
        "data": {"max_length": 80},
        "model": {
            "encoder": {"cell": cell, "embedding_size": 256, "state_size": 256, "dropout": 0.3},
            "decoder": {"cell": cell, "embedding_size": 256, "state_size": 512, "dropout": 0.3, **decoder},
        },
        "training": dict(SMALL_TRAINING),
    }


def rnnsearch_small() -> Preset:
    """RNNsearch small enough for a laptop's CPU: 256 units, Adam, dropout."""
    attention = {"energy": "additive", "size": 256}
    return _small("gru", {"kind": "bahdanau", "attention": attention, "readout_size": 256})


def luong_small() -> Preset:
    """Luong's model small enough for a laptop's CPU: one BiLSTM of 256 each way, general score, input feeding."""
    decoder = {"kind": "luong", "attention": {"energy": "bilinear"}, "readout_size": 512}
    return _small("lstm", {**decoder, "input_feeding": True, "bridge": "copy"})


def rnnencdec_small() -> Preset:
    """The fixed-vector model at the size of rnnsearch-small, for comparison."""
    return _small("gru", {"kind": "cho", "readout_size": 256})


def sutskever_small() -> Preset:
    """Sutskever's model small enough for a laptop's CPU: two LSTM layers of 384, the source reversed."""
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
        "training": {**SMALL_TRAINING, "learning_rate": 0.002, "max_epochs": 20.0, "select": "exact_match"},
    }


def _with_attention(attention: dict[str, Any]) -> Preset:
    return merge(rnnsearch_small(), {"model": {"decoder": {"attention": attention}}})


def heads_small() -> Preset:
    """RNNsearch with query–key–value attention of four heads (Vaswani et al. 2017, over recurrent states)."""
    return _with_attention({"energy": "qkv", "size": 256, "heads": 4})


def sparsemax_small() -> Preset:
    """RNNsearch whose alpha is exactly zero at most words (Martins & Astudillo 2016)."""
    return _with_attention({"normalizer": "sparsemax"})


def coverage_small() -> Preset:
    """RNNsearch with coverage in its attention (Tu et al. 2016), and a coverage loss."""
    return merge(_with_attention({"coverage": True}), {"auxiliary_losses": {"coverage": 0.1}})


def pointer_small() -> Preset:
    """RNNsearch with a pointer-generator (See et al. 2017, §2.2): what both sides write alike can be copied.

    One vocabulary for both sides; no label smoothing, which would have every word generated with some probability.
    """
    copying = {"tokenizer": {"shared": True}, "model": {"decoder": {"copy": True}}}
    return merge(rnnsearch_small(), {**copying, "training": {"label_smoothing": 0.0}})


def hard_monotonic_small() -> Preset:
    """Hard monotonic attention (Wu & Cotterell 2019) small enough for a laptop's CPU: characters, one LSTM each way."""
    preset = characters()
    preset["model"]["encoder"]["cell"] = "lstm"
    preset["model"]["decoder"] |= {
        "kind": "hard-monotonic",
        "cell": "lstm",
        "attention": {"energy": "bilinear"},
    }
    preset["training"]["label_smoothing"] = 0.0
    return preset


def luong_local() -> Preset:
    """Luong, Pham & Manning 2015: the predictive window (local-p) of D = 10, general score, input feeding."""
    over = {"model": {"decoder": {"attention": {"window": "local-p", "window_size": 10}}}}
    return merge(luong_general(), over)


def luong_monotonic() -> Preset:
    """Luong, Pham & Manning 2015: the monotonic window (local-m) of D = 10, general score, input feeding."""
    over = {"model": {"decoder": {"attention": {"window": "local-m", "window_size": 10}}}}
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
    """Deep fusion of Cheng, Dong & Lapata 2016: an LSTMN of 256 whose memory is combined with the source's."""
    own_past = {"energy": "additive", "size": 128}
    preset = rnnsearch_small()
    preset["model"]["encoder"] |= {"cell": "lstmn", "bidirectional": False, "memory": own_past}
    preset["model"]["decoder"] = {
        "kind": "deep-fusion",
        "cell": "lstmn",
        "embedding_size": 256,
        "state_size": 256,
        "memory": own_past,
        "attention": {"energy": "additive", "size": 128},
        "dropout": 0.3,
    }
    return preset


_LECTURE_PART: Preset = {"embedding_size": 128, "state_size": 128}


def _lecture(cell: str, decoder: Mapping[str, Any], *, bidirectional: bool = False) -> Preset:
    """A model as on the slides, at a size for a laptop's CPU: one layer, plain cross-entropy, no dropout."""
    return {
        "data": {"max_length": 80},
        "model": {
            "encoder": {"cell": cell, **_LECTURE_PART, "bidirectional": bidirectional},
            "decoder": {"cell": cell, **_LECTURE_PART, **decoder},
        },
        "training": {**SMALL_TRAINING, "label_smoothing": 0.0},
    }


def _lecture_attention(attention: Mapping[str, Any]) -> Preset:
    """S. Wang's Seq2Seq with attention: SimpleRNNs, s_0 = h_m, word j chosen from s_j."""
    decoder = {"kind": "bahdanau", "attention": dict(attention), "readout": "state", "bridge": "copy"}
    return _lecture("rnn", decoder)


def lecture_seq2seq() -> Preset:
    """Lecture 4 without attention: c = h_T, s_0 from h_T, s_t = g_U(y_{t−1}, s_{t−1}, c), then softmax(c + V s_t)."""
    return _lecture("rnn", {"kind": "cho", "readout": "state"})


def lecture_sutskever() -> Preset:
    """Lecture 5 without attention: f is an LSTM, q(h_1, …, h_T) = h_T is the decoder's s_0 (Sutskever et al. 2014)."""
    return _lecture("lstm", {"kind": "sutskever"})


def lecture_attention() -> Preset:
    """Lecture 1: s_j = tanh(A′ [x′_j; s_{j−1}; c_{j−1}] + b), s_0 = h_m, α from v, W and tanh, softmax(c + V s_j)."""
    return _lecture_attention({"energy": "additive", "size": 128})


def lecture_query_key() -> Preset:
    """Lecture 1, its other align: k_i = W_K h_i, q_j = W_Q s_j, α = softmax(kᵀq), not scaled, and c = Σ α_i h_i."""
    return _lecture_attention({"energy": "qk", "size": 128})


def lecture_dot() -> Preset:
    """Lecture 3: Vᵀ softmax(K q), the encoder's states as keys and as values, the decoder's state as query."""
    return _lecture_attention({"energy": "dot"})


def lecture_qkv() -> Preset:
    """Lecture 4: Z = V softmax(KᵀQ/√p), with W_Q, W_K of p = 64 rows and W_V of r = 96, another width than d = 128."""
    return _lecture_attention({"energy": "qkv", "size": 64, "value_size": 96})


def lecture_bahdanau() -> Preset:
    """Lecture 5: h_j = [→h_j; ←h_j], additive e_ij, s_i = f(s_{i−1}, y_{i−1}, c_i), p(y_i) = g(y_{i−1}, s_i, c_i)."""
    attention = {"energy": "additive", "size": 128}
    return _lecture(
        "gru", {"kind": "bahdanau", "attention": attention, "readout_size": 128}, bidirectional=True
    )


PRESETS: dict[str, Callable[[], Preset]] = {
    "rnnsearch-small": rnnsearch_small,
    "luong-small": luong_small,
    "rnnencdec-small": rnnencdec_small,
    "sutskever-small": sutskever_small,
    "characters": characters,
    "heads-small": heads_small,
    "sparsemax-small": sparsemax_small,
    "coverage-small": coverage_small,
    "pointer-small": pointer_small,
    "hard-monotonic-small": hard_monotonic_small,
    "lstmn-shallow-small": lstmn_shallow_small,
    "lstmn-deep-small": lstmn_deep_small,
    "rnnsearch-50": rnnsearch_50,
    "rnnencdec-50": rnnencdec_50,
    "sutskever": sutskever,
    "luong-general": luong_general,
    "luong-local": luong_local,
    "luong-monotonic": luong_monotonic,
    "lecture-seq2seq": lecture_seq2seq,
    "lecture-sutskever": lecture_sutskever,
    "lecture-attention": lecture_attention,
    "lecture-query-key": lecture_query_key,
    "lecture-dot": lecture_dot,
    "lecture-qkv": lecture_qkv,
    "lecture-bahdanau": lecture_bahdanau,
}
