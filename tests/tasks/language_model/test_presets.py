"""The language models' presets: they build, and the papers' have the papers' numbers."""

import pytest
import torch

from regard.models import LanguageModelNetwork
from regard.tasks import TASKS
from regard.training.configure import PRESETS, configure

NAMES = [name for name, preset in PRESETS.items() if preset().get("task") == "language_model"]


def parameters(name, size):
    with torch.device("meta"):
        return LanguageModelNetwork(configure(preset=name).model, size).num_parameters


def test_the_default_is_one_of_these():
    assert set(NAMES) == {
        *("lstm-lm", "lstmn-lm", "characters-lm", "lstmn-cheng", "zaremba-medium"),
        *("rnn-read-lm", "rnn-sum-lm", "rnn-sum-keep-lm"),
        *("lecture-rnn-lm", "lecture-lstm-lm", "lecture-gru-lm"),
        *("lecture-rnn-read-lm", "lecture-rnn-sum-lm", "lecture-lstmn-lm"),
    }
    assert TASKS["language_model"].default_preset == "lstm-lm"
    assert configure({"task": "language_model"}) == configure(preset="lstm-lm")


@pytest.mark.parametrize("name", ["lstm-lm", "lstmn-lm", "characters-lm"])
def test_small_ones_fit_a_laptop(name):
    assert parameters(name, 10_000) < 6e6


def test_penn_treebank_s_words_all_have_a_token():
    """9,999 words, and four specials of ours."""
    for name in set(NAMES) - {"characters-lm"}:
        assert configure(preset=name).tokenizer.text_size >= 9_999 + 4


def test_zaremba_s_numbers():
    V, n = 10_000, 650
    assert parameters("zaremba-medium", V) == V * n + 2 * 4 * (2 * n * n + n) + V * n + V
    run = configure(preset="zaremba-medium")
    assert (run.data.mode, run.data.steps, run.training.batch_sentences) == ("continuous", 35, 20)
    assert (run.training.learning_rate, run.training.clip, run.training.max_epochs) == (1.0, 5.0, 39.0)
    assert run.training.decay_from == 6
    assert run.training.decay_factor == pytest.approx(1 / 1.2)


def test_cheng_s_numbers():
    run = configure(preset="lstmn-cheng")
    assert (run.model.cell, run.model.embedding_size, run.model.state_size) == ("lstmn", 150, 300)
    assert (run.training.learning_rate, run.training.decay_factor, run.training.clip) == (0.65, 0.85, 5.0)
    assert (run.training.decay_from, run.training.batch_sentences) == (1.0, 40)
