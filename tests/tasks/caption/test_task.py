"""The captioner's task: its loss and its validation against plainer computations, its features brought to scale."""

import numpy as np
import pytest
import torch

from regard.batches import pad_captioned
from regard.errors import ConfigError
from regard.evaluation import measure_quality
from regard.evaluation.metrics import validation_metrics
from regard.tasks import prepare_task
from regard.tasks.caption.predictor import Captioner
from regard.training.configure import configure

TINY = {
    "task": "caption",
    "model": {"decoder": {"embedding_size": 4, "state_size": 6, "dropout": 0.5}},
    "training": {"max_updates": 3, "max_epochs": 0.0, "batch_sentences": 4, "device": "cpu"},
}
ROWS = [([float(k), 100.0 - k, 7.0], " ".join("abcde"[: 1 + k % 5])) for k in range(12)]


def made(**over):
    task = prepare_task(configure(TINY, over), ROWS, ROWS[:5])
    torch.manual_seed(3)
    task.build()
    return task


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_the_loss_is_the_words_cross_entropy(smoothing):
    task = made(training={"label_smoothing": smoothing})
    task.model.eval()
    members = [0, 4, 7]
    batch = task.batch(members)
    examples = [task.prepared.train[k] for k in members]
    assert (batch.num_tokens, batch.num_sentences) == (sum(len(each.ids) + 1 for each in examples), 3)
    expected = 0.0
    for each in examples:
        alone = pad_captioned([each.features], [each.ids])
        log_probs = task.model(alone).logits.detach().log_softmax(-1)
        targets = alone.target_ids[alone.target_mask]
        right = log_probs[torch.arange(len(targets)), targets]
        expected -= float(((1 - smoothing) * right + smoothing * log_probs.mean(dim=-1)).sum())
    assert float(task.loss(task.objective(), batch, 0.0).detach()) == pytest.approx(expected, rel=1e-5)


def test_every_example_is_planned_once():
    task = made()
    assert sorted(k for members in task.plan(0) for k in members) == list(range(12))
    assert max(map(len, task.plan(0))) == 4
    assert task.plan(0) == made().plan(0) != task.plan(1)
    assert task.sizes == {"features": 3, "text": 4 + 5}


def test_features_are_brought_to_scale_by_the_training_rows():
    features = torch.tensor([row for row, _ in ROWS])
    scaled = made().model.standardize(features)
    torch.testing.assert_close(scaled[:, :2].mean(dim=0), torch.zeros(2), atol=1e-5, rtol=0)
    torch.testing.assert_close(scaled[:, :2].var(dim=0, unbiased=False), torch.ones(2), atol=1e-4, rtol=0)
    assert torch.equal(scaled[:, 2], torch.zeros(12)), "what never changes says nothing"
    torch.testing.assert_close(made(data={"standardize": False}).model.standardize(features), features)


def test_validation_is_the_captioner_as_it_is_used():
    task = made(training={"validation_sentences": 4})
    found = task.validate(torch.device("cpu"))
    assert task.model.training
    captioner = Captioner(task.model.eval(), task.tokenizers["text"], max_length=11)
    output = [each.text for each in captioner.caption(np.array([row for row, _ in ROWS[:4]]), beam=1)]
    quality = measure_quality(output, [text for _, text in ROWS[:4]], metrics=validation_metrics())
    assert (found.scores["bleu"], found.scores["chrf"], found.scores["exact_match"]) == (
        quality["bleu"],
        quality["chrf"],
        quality["exact_match"],
    )


def test_no_data_is_told():
    with pytest.raises(
        ConfigError, match=r"data\.train: no training captions; .*--train features.npy --train captions"
    ):
        prepare_task(configure(TINY), None, None)
