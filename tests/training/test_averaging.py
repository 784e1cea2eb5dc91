import pytest
import torch
from torch import nn

from regard.checkpoint import ModelFolder, read_log
from regard.tasks.base import Validation
from regard.tasks.translate.task import TranslateTask
from regard.training.averaging import MovingAverage, moving_decay
from regard.training.run import run_training


def test_the_moving_average_by_hand():
    model = nn.Linear(1, 1, bias=False)
    weights = [1.0, 5.0, -3.0, 2.0]
    with torch.no_grad():
        model.weight.fill_(weights[0])
    moving = MovingAverage(model, 0.3)
    expected = weights[0]
    for update, weight in enumerate(weights[1:], start=1):
        with torch.no_grad():
            model.weight.fill_(weight)
        moving.observe(update)
        decay = min(0.3, (1 + update) / (10 + update))
        expected = decay * expected + (1 - decay) * weight
    with moving.swapped():
        assert model.weight.item() == pytest.approx(expected)
    assert model.weight.item() == 2.0


def test_the_first_weights_are_soon_forgotten():
    assert moving_decay(0.999, 1) == pytest.approx(2 / 11)
    assert moving_decay(0.999, 10**6) == 0.999


def parameters(folder, name):
    return torch.cat([each.detach().flatten() for each in ModelFolder(folder).load(name).model.parameters()])


def test_averaged_weights_are_validated_and_saved(tmp_path, run_config, pairs):
    options = {"max_updates": 8, "validate_every": 4}
    plain, averaged = (
        run_training(
            tmp_path / name, run_config(training={**options, **more}), train=pairs(40), valid=pairs(10)
        )
        for name, more in (("plain", {}), ("averaged", {"moving_average": 0.9}))
    )
    assert not torch.equal(parameters(plain.folder, "last"), parameters(averaged.folder, "last"))
    assert plain.result.best.loss != averaged.result.best.loss
    # the weights in training are the same: the average only watches
    rows = [
        [row["loss"] for row in read_log(run.folder) if row["event"] == "train"] for run in (plain, averaged)
    ]
    assert rows[0] == rows[1]


@pytest.mark.parametrize("improves", [True, False])
def test_the_mean_of_the_best_checkpoints(tmp_path, run_config, pairs, monkeypatch, improves):
    losses = iter([3.0, 1.0, 2.0, 4.0, 0.5 if improves else 1.5])
    seen = []

    def measure(task, device, processes):
        seen.append(torch.cat([each.detach().flatten().clone() for each in task.model.parameters()]))
        return Validation(next(losses), {})

    monkeypatch.setattr(TranslateTask, "measure", measure)
    monkeypatch.setattr(TranslateTask, "summarize", lambda task, measured: measured[0])
    config = run_config(training={"max_updates": 8, "validate_every": 2, "average_best": 3, "select": "loss"})
    trained = run_training(tmp_path / "model", config, train=pairs(40), valid=pairs(10))
    mean = torch.stack([seen[1], seen[2], seen[0]]).double().mean(0).float()
    torch.testing.assert_close(seen[4], mean, rtol=0, atol=0)
    assert trained.result.best.loss == (0.5 if improves else 1.0)
    assert torch.equal(parameters(trained.folder, "best"), mean if improves else seen[1])
    assert torch.equal(parameters(trained.folder, "last"), seen[3])
    row = [row for row in read_log(trained.folder) if row["event"] == "validation"][-1]
    assert (row["averaged"], row["best"]) == ([4, 6, 2], improves)
