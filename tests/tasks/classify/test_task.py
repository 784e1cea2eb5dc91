"""The classifier's task: its loss and its validation against plainer computations, one text and two."""

import re

import pytest
import torch
from torch.nn import functional

from regard.batches import pad_labelled
from regard.errors import ConfigError
from regard.evaluation import score_classes
from regard.tasks import prepare_task
from regard.tasks.classify.predictor import Classifier
from regard.training.configure import configure
from regard.training.run import run_training

TINY = {
    "task": "classify",
    "model": {"encoder": {"embedding_size": 4, "state_size": 3, "dropout": 0.5}, "pooling_size": 4},
    "training": {"max_updates": 3, "max_epochs": 0.0, "batch_sentences": 4, "device": "cpu"},
}
ROWS = [("x", "a b c", "b"), ("y", "c", "a a"), ("x", "b b", "c b a"), ("z", "a", "c"), ("z", "c a", "b")]


def made(num_texts=1, **training):
    config = configure(TINY, {"model": {"num_texts": num_texts}, "training": training})
    rows = [row[: num_texts + 1] for row in ROWS]
    task = prepare_task(config, rows, rows)
    torch.manual_seed(3)
    task.build()
    return task


@pytest.mark.parametrize("num_texts", [1, 2])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_the_loss_is_the_cross_entropy_of_the_labels(num_texts, smoothing):
    task = made(num_texts, label_smoothing=smoothing)
    task.model.eval()
    batch = task.batch([0, 3, 4])
    assert (batch.num_tokens, batch.num_sentences) == (3, 3)
    loss = task.loss(task.objective(), batch, 0.0)
    examples = [task.prepared.train[k] for k in (0, 3, 4)]
    logits = task.model(pad_labelled(examples)).logits
    gold = torch.tensor([0, 2, 2])
    one_hot = functional.one_hot(gold, 3) * (1 - smoothing) + smoothing / 3
    torch.testing.assert_close(loss, -(one_hot * logits.log_softmax(-1)).sum())


@pytest.mark.parametrize("num_texts", [1, 2])
def test_validation_is_the_classifier_as_it_is_used(num_texts):
    task = made(num_texts)
    task.model.train()
    validation = task.validate(torch.device("cpu"))
    assert task.model.training
    used = Classifier(task.model.eval(), task.tokenizers["text"], task.labels)
    found = used.classify([row[1 : num_texts + 1] for row in ROWS])
    scores = score_classes([row[0] for row in ROWS], [one.label for one in found], task.labels)
    assert validation.scores["accuracy"] == scores.accuracy
    assert validation.scores["macro_f1"] == pytest.approx(scores.macro_f1)
    nats = [-torch.tensor(one.probabilities[row[0]]).log() for one, row in zip(found, ROWS, strict=True)]
    assert validation.loss == pytest.approx(float(sum(nats)) / 5, rel=1e-5)


def test_a_run_leaves_a_classifier_behind(tmp_path):
    config = configure(TINY)
    rows = [row[:2] for row in ROWS]
    report = run_training(tmp_path / "model", config, train=rows, valid=rows).report
    assert (report["task"], report["num_train_texts"]) == ("classify", 5)
    assert set(report["validation"]) == {"loss", "accuracy", "macro_f1"}
    loaded = Classifier.load(tmp_path / "model")
    assert loaded.labels.names == ("x", "y", "z")
    assert len(loaded.classify(["a b", ""])) == 2


def test_no_data_is_told():
    with pytest.raises(ConfigError, match=r"data\.train: no training texts; name their file with --train"):
        prepare_task(configure({"task": "classify"}), None, None)


def test_a_page_has_one_scale(tmp_path):
    task = made()
    shown = task.show(Classifier(task.model, task.tokenizers["text"], task.labels))
    ends = {re.search(r"pooling weight 0.*?</span>\W*([\d.]+)</span>", one.picture)[1] for one in shown}
    assert len(shown) == len(ROWS)
    assert len(ends) == 1
