"""The tagger's task: its loss and its validation against plainer computations."""

import pytest
import torch
from torch.nn import functional

from regard.batches import pad_tagged
from regard.errors import ConfigError
from regard.evaluation import score_tags
from regard.tasks import prepare_task
from regard.tasks.tag.predictor import Tagger
from regard.training.configure import configure
from regard.training.run import run_training

TINY = {
    "task": "tag",
    "model": {"encoder": {"embedding_size": 4, "state_size": 3, "dropout": 0.5}},
    "training": {"max_updates": 3, "max_epochs": 0.0, "batch_sentences": 4, "device": "cpu"},
}
ROWS = [("a b c", "X Y X"), ("c", "Y"), ("b b", "X X"), ("a c b a", "Y Y X Y")]


def made(**training):
    task = prepare_task(configure(TINY, {"training": training}), ROWS, ROWS)
    torch.manual_seed(3)
    task.build()
    return task


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_the_loss_is_the_cross_entropy_of_the_words_tags(smoothing):
    task = made(label_smoothing=smoothing)
    task.model.eval()
    batch = task.batch([0, 1])
    assert (batch.num_tokens, batch.num_sentences) == (4, 2)
    loss = task.loss(task.objective(), batch, 0.0)
    # each sentence by itself, without padding
    logits = torch.cat([task.model(pad_tagged([task.prepared.train[k]])) for k in (0, 1)])
    one_hot = functional.one_hot(torch.tensor([0, 1, 0, 1]), 2) * (1 - smoothing) + smoothing / 2
    torch.testing.assert_close(loss, -(one_hot * logits.log_softmax(-1)).sum())


def test_validation_is_the_tagger_as_it_is_used():
    found_some = 0
    for seed in range(8):
        task = made()
        torch.manual_seed(seed)
        for parameter in task.model.parameters():
            torch.nn.init.normal_(parameter)
        task.model.train()
        validation = task.validate(torch.device("cpu"))
        assert task.model.training
        used = Tagger(task.model.eval(), task.tokenizers["text"], task.labels)
        found = used.tag([words for words, _ in ROWS])
        scores = score_tags([tags.split() for _, tags in ROWS], [one.tags for one in found], task.labels)
        assert validation.scores["accuracy"] == pytest.approx(scores.accuracy)
        assert validation.scores["sentence_accuracy"] == scores.sentence_accuracy
        found_some += 0 < validation.scores["sentence_accuracy"] < 1
    assert found_some, "else whole sentences are not put to the test"


def test_a_run_leaves_a_tagger_behind(tmp_path):
    report = run_training(tmp_path / "model", configure(TINY), train=ROWS, valid=ROWS).report
    assert (report["task"], report["num_train_sentences"]) == ("tag", 4)
    assert set(report["validation"]) == {"loss", "accuracy", "macro_f1", "sentence_accuracy"}
    loaded = Tagger.load(tmp_path / "model")
    assert loaded.labels.names == ("X", "Y")
    assert [len(one.tags) for one in loaded.tag(["a b", ""])] == [2, 0]


def test_no_data_is_told():
    with pytest.raises(ConfigError, match=r"data\.train: no training sentences; name them with --train"):
        prepare_task(configure({"task": "tag"}), None, None)
