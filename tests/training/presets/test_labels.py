"""The presets of classifiers and taggers: what they are made of, the papers' numbers, and that each learns."""

import pytest

from regard.models import build_model
from regard.training.configure import configure
from regard.training.presets import DEFAULTS, PRESETS

TASKS = {
    "classifier": "classify",
    "classifier-pretrained": "classify",
    "lstmn-classifier": "classify",
    "tagger": "tag",
}


def test_each_task_has_its_default():
    assert (DEFAULTS["classify"], DEFAULTS["tag"]) == ("classifier", "tagger")
    assert {name: PRESETS[name]()["task"] for name in TASKS} == TASKS


@pytest.mark.parametrize("name", TASKS)
def test_each_fits_a_laptop(name):
    config = configure(preset=name)
    assert build_model(TASKS[name], config.model, {"text": 10_000, "labels": 5}).num_parameters < 8e6


def test_howard_and_ruder_s_numbers():
    run = configure(preset="classifier-pretrained")
    assert not run.model.encoder.bidirectional
    assert (run.model.hidden_size, run.model.dropout, run.training.batch_sentences) == (50, 0.4, 64)
    assert run.training.depth_decay == pytest.approx(1 / 2.6)
    assert (run.training.thaw_every, run.training.rate, run.training.schedule) == (1.0, 0.01, "linear")


def test_cheng_s_numbers():
    run = configure(preset="lstmn-classifier")
    encoder = run.model.encoder
    assert (encoder.cell, encoder.state_size, encoder.embedding_size) == ("lstmn", 168, 300)
    assert (run.model.pooling, run.model.dropout) == ("mean", 0.5)
    assert (run.training.rate, run.training.batch_sentences) == (0.002, 5)
