"""Presets of language models: small ones for a CPU, two after papers (Zaremba 2014, Cheng 2016), the lectures'."""

from collections.abc import Callable

from regard.config import merge
from regard.tasks.spec import Preset

_SMALL: Preset = {
    "optimizer": "adam",
    "learning_rate": 0.002,
    "schedule": "cosine",
    "warmup": 100,
    "clip": 1.0,
    "batch_sentences": 32,
    "batch_tokens": 2000,
    "max_epochs": 10.0,
}


def lstm_lm() -> Preset:
    """An LSTM small enough for a laptop's CPU: one layer of 200 units, tied embeddings, Adam, dropout."""
    return {
        "task": "language_model",
        "tokenizer": {"text": "word", "text_size": 10_010},
        "model": {"cell": "lstm", "embedding_size": 200, "state_size": 200, "tie": True, "dropout": 0.3},
        "training": dict(_SMALL),
    }


def lstmn_lm() -> Preset:
    """An LSTM that attends to its own past (Cheng, Dong & Lapata 2016) at the size of lstm-lm, for comparison."""
    return {
        "task": "language_model",
        "tokenizer": {"text": "word", "text_size": 10_010},
        "model": {
            "cell": "lstmn",
            "embedding_size": 200,
            "state_size": 200,
            "tie": True,
            "dropout": 0.3,
            "memory": {"energy": "additive", "size": 200},
        },
        "training": dict(_SMALL),
    }


def _self_attentive(cell: str, energy: str) -> Preset:
    preset = lstm_lm()
    del preset["model"]["cell"]
    return merge(preset, {"model": {"cell": cell, "memory": {"energy": energy}}})


def rnn_read_lm() -> Preset:
    """A simple RNN that attends to its past before the update (cell rnn-read), at the size of lstm-lm."""
    return _self_attentive("rnn-read", "additive")


def rnn_sum_lm() -> Preset:
    """A simple RNN that attends to its past after the update (cell rnn-sum), at the size of lstm-lm."""
    return _self_attentive("rnn-sum", "additive")


def rnn_sum_keep_lm() -> Preset:
    """Like rnn-sum-lm, but the update also reads the previous state (cell rnn-sum-keep), at the size of lstm-lm."""
    return _self_attentive("rnn-sum-keep", "additive")


def lstmn_cheng() -> Preset:
    """After the LSTMN of Cheng, Dong & Lapata 2016: one layer of 300, embeddings of 150, SGD at 0.65, batches of 40.

    The paper was not available. Others' accounts of it agree on the embeddings, the learning rate, its factor of 0.85
    per epoch and the clipping at 5. From memory and unchecked: the 300 units, the batches of 40, and whether the
    learning rate falls after every epoch, as here, or only after one without improvement. The mean over sentences, no
    dropout and 30 epochs are ours.
    """
    return {
        "task": "language_model",
        "tokenizer": {"text": "word", "text_size": 10_010},
        "model": {
            "cell": "lstmn",
            "embedding_size": 150,
            "state_size": 300,
            "memory": {"energy": "additive", "size": 300},
        },
        "training": {
            "optimizer": "sgd",
            "learning_rate": 0.65,
            "schedule": "decay",
            "decay_from": 1.0,
            "decay_factor": 0.85,
            "normalize": "sentences",
            "clip": 5.0,
            "batch_sentences": 40,
            "batch_tokens": 40 * 101,
            "max_epochs": 30.0,
        },
    }


def zaremba_medium() -> Preset:
    """The medium LSTM of Zaremba, Sutskever & Vinyals 2014 (§4.1): two layers of 650, dropout 0.5, continuous text.

    SGD at 1, divided by 1.2 after each epoch past the sixth, 39 epochs; 20 streams in windows of 35, the gradient
    averaged over streams; weights initialised uniformly within ±0.05.
    """
    return {
        "task": "language_model",
        "data": {"mode": "continuous", "steps": 35},
        "tokenizer": {"text": "word", "text_size": 10_010},
        "model": {
            "cell": "lstm",
            "embedding_size": 650,
            "state_size": 650,
            "num_layers": 2,
            "dropout": 0.5,
            "initialization": "zaremba",
        },
        "training": {
            "optimizer": "sgd",
            "learning_rate": 1.0,
            "schedule": "decay",
            "decay_from": 6.0,
            "decay_factor": 1 / 1.2,
            "normalize": "sentences",
            "clip": 5.0,
            "batch_sentences": 20,
            "max_epochs": 39.0,
        },
    }


def characters_lm() -> Preset:
    """A character model for a CPU: one LSTM layer of 256 over continuous text, Adam."""
    return {
        "task": "language_model",
        "data": {"mode": "continuous", "steps": 100},
        "tokenizer": {"text": "char", "text_size": 1000},
        "model": {"cell": "lstm", "embedding_size": 64, "state_size": 256, "dropout": 0.1},
        "training": {**_SMALL, "batch_sentences": 32},
    }


def _lecture(cell: str, memory: Preset | None = None) -> Preset:
    """A model as on the slides, at a size for a laptop's CPU: one layer, an output matrix of its own, no dropout."""
    own_past = {} if memory is None else {"memory": memory}
    return {
        "task": "language_model",
        "tokenizer": {"text": "word", "text_size": 10_010},
        "model": {"cell": cell, "embedding_size": 128, "state_size": 128, **own_past},
        "training": dict(_SMALL),
    }


def lecture_rnn_lm() -> Preset:
    """Lecture 4: a_t = b + W s_{t−1} + U x_t, s_t = tanh(a_t), p_t = softmax(c + V s_t); the RNNLM of lecture 3."""
    return _lecture("rnn")


def lecture_lstm_lm() -> Preset:
    """Lectures 1 and 4: c_t = f_t∘c_{t−1} + i_t∘c̃_t; for the variants in lecture 4's list set model.cell."""
    return _lecture("lstm")


def lecture_gru_lm() -> Preset:
    """Lecture 4: the gated recurrent unit of Cho et al. 2014."""
    return _lecture("gru")


def lecture_rnn_read_lm() -> Preset:
    """Lecture 1: a SimpleRNN over s_t = Σ_{i<t} α_i h_i, α from x_t, s_{t−1} and h_i."""
    return _lecture("rnn-read", {"energy": "additive"})


def lecture_rnn_sum_lm() -> Preset:
    """Lecture 2: h_t = tanh(A [x_t; c_{t−1}] + b), c_t = Σ_{i≤t} α_i h_i, α_i = align(h_i, h_t)."""
    return _lecture("rnn-sum", {"energy": "additive"})


def lecture_lstmn_lm() -> Preset:
    """Lecture 1: an LSTM over Σ α_i h_i and c′_t = Σ α_i c_i, with h_t = o_t∘c_t, without tanh, as on the slide."""
    return _lecture("lstmn", {"energy": "additive", "output": "plain"})


PRESETS: dict[str, Callable[[], Preset]] = {
    "lstm-lm": lstm_lm,
    "lstmn-lm": lstmn_lm,
    "rnn-read-lm": rnn_read_lm,
    "rnn-sum-lm": rnn_sum_lm,
    "rnn-sum-keep-lm": rnn_sum_keep_lm,
    "characters-lm": characters_lm,
    "lstmn-cheng": lstmn_cheng,
    "zaremba-medium": zaremba_medium,
    "lecture-rnn-lm": lecture_rnn_lm,
    "lecture-lstm-lm": lecture_lstm_lm,
    "lecture-gru-lm": lecture_gru_lm,
    "lecture-rnn-read-lm": lecture_rnn_read_lm,
    "lecture-rnn-sum-lm": lecture_rnn_sum_lm,
    "lecture-lstmn-lm": lecture_lstmn_lm,
}
