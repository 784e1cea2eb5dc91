"""The presets of classifiers and taggers: what they are made of, the papers' numbers, and that each learns."""

import pytest

from regard import tasks
from regard.errors import ConfigError
from regard.training.configure import PRESETS, configure

TASKS = {
    "classifier": "classify",
    "classifier-pretrained": "classify",
    "lstmn-classifier": "classify",
    "lecture-classifier": "classify",
    "tagger": "tag",
    "lecture-traditional-rnn": "tag",
}


def test_each_task_has_its_default():
    assert (tasks.TASKS["classify"].default_preset, tasks.TASKS["tag"].default_preset) == (
        "classifier",
        "tagger",
    )
    assert {name: PRESETS[name]()["task"] for name in TASKS} == TASKS


def configured(name):
    """A preset that starts from a language model needs its folder."""
    begun = {"pretrained": {"encoder": "language_model"}} if name == "classifier-pretrained" else {}
    return configure(begun, preset=name)


@pytest.mark.parametrize("name", TASKS)
def test_each_fits_a_laptop(name):
    config = configured(name)
    assert tasks.TASKS[TASKS[name]].build(config.model, {"text": 10_000, "labels": 5}).num_parameters < 8e6


def test_fine_tuning_needs_a_model_to_tune():
    with pytest.raises(ConfigError, match=r"unfreeze_every = 0\.5 .*as --set pretrained\.encoder=FOLDER"):
        configure(preset="classifier-pretrained")


def test_howard_and_ruder_s_numbers_but_for_the_rates():
    run = configured("classifier-pretrained")
    assert not run.model.encoder.bidirectional
    assert (run.model.hidden_size, run.model.dropout, run.training.batch_sentences) == (50, 0.4, 64)
    assert (run.training.depth_decay, run.training.unfreeze_every, run.training.max_epochs) == (1.0, 0.5, 6.0)
    assert (run.training.learning_rate, run.training.schedule) == (0.005, "linear")
    assert "--set pretrained.encoder=FOLDER" in PRESETS["classifier-pretrained"].__doc__


def test_cheng_s_numbers():
    run = configured("lstmn-classifier")
    encoder = run.model.encoder
    assert (encoder.cell, encoder.state_size, encoder.embedding_size) == ("lstmn", 168, 300)
    assert (run.model.pooling, run.model.dropout) == ("mean", 0.5)
    assert (run.training.learning_rate, run.training.batch_sentences) == (0.002, 5)
