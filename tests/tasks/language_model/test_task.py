"""The state is carried from window to window, within an epoch, with no gradient; single lines are independent."""

import math
from importlib import import_module

import pytest
import torch

from regard.batches import Stream, pad_lines
from regard.errors import ConfigError, DataError
from regard.search import score_tokens
from regard.tasks import prepare_task
from regard.tasks.language_model.predictor import LanguageModel

CONTINUOUS = {"mode": "continuous", "steps": 3}
CELLS = ["lstm", "gru", "rnn-sum", "lstmn"]


def model_of(cell, span=0):
    memory = {"memory": {"size": 4, "span": span}} if cell in ("rnn-sum", "lstmn") else {}
    return {"cell": cell, "embedding_size": 4, "state_size": 4, "tie": False, **memory}


def losses(task, epoch=0):
    objective = task.objective()
    return [float(task.loss(objective, task.batch(members), 0.0).detach()) for members in task.plan(epoch)]


@pytest.mark.parametrize("cell", CELLS)
def test_windows_with_the_state_carried_are_one_long_text(lm_task, lines, cell):
    """A span as long as the text: the tape that is carried then holds all of it."""
    task = lm_task(lines(30), lines(5, seed=1), data=CONTINUOUS, model=model_of(cell, span=500))
    whole = Stream([line.ids for line in task.prepared.train], 4, 9999)
    assert len(whole) == 1 < len(task.plan(0))
    expected = float(task.objective()(whole[0])[0].detach())
    for _ in range(2):  # an epoch starts from a zero state
        found = losses(task)
        assert sum(found) == pytest.approx(expected, rel=1e-5)
    assert task.plan(0) == task.plan(1)


def test_no_gradient_goes_back_beyond_a_window(lm_task, lines):
    task = lm_task(lines(30), lines(5, seed=1), data=CONTINUOUS, model=model_of("lstm"))
    objective = task.objective()
    first, second = (task.batch(members) for members in task.plan(0)[:2])
    task.loss(objective, first, 0.0).backward()
    assert all(not part.requires_grad for layer in task._state for part in layer)
    task.loss(objective, second, 0.0).backward()


def test_windows_say_what_they_hold(lm_task, lines):
    task = lm_task(lines(30), lines(5, seed=1), data=CONTINUOUS)
    batches = [task.batch(members).to("cpu") for members in task.plan(0)]
    assert [batch.continues for batch in batches] == [False] + [True] * (len(batches) - 1)
    assert sum(batch.num_tokens for batch in batches) == sum(line.length for line in task.prepared.train)
    assert {batch.num_sentences for batch in batches} == {4}


def test_single_lines_are_independent(lm_task, lines):
    task = lm_task(lines(30), lines(5, seed=1))
    plan = task.plan(0)
    assert sorted(k for members in plan for k in members) == list(range(30))
    assert plan != task.plan(1)
    for _ in range(2):
        found = losses(task)
        for members, loss in zip(plan, found, strict=True):
            rows = [pad_lines([task.prepared.train[k].ids]) for k in members]
            alone = sum(float(task.objective()(row)[0].detach()) for row in rows)
            assert loss == pytest.approx(alone, rel=1e-5)


@pytest.mark.parametrize("mode", ["sentences", "continuous"])
@pytest.mark.parametrize("kind", ["word", "char"])
def test_validation_agrees_with_the_predictor(lm_task, lines, mode, kind):
    """A short text is one stream, so both read it in the same way."""
    valid = lines(20, seed=1)
    task = lm_task(lines(60), valid, data={"mode": mode}, tokenizer={"text": kind})
    found = task.validate(torch.device("cpu"))
    assert task.model.training
    task.model.eval()
    score = LanguageModel(task.model, task.tokenizers["text"]).perplexity(valid, mode=mode)
    scores = found.to_json()
    del scores["token_accuracy"]
    assert scores == pytest.approx({name: score.to_json()[name] for name in scores}, rel=1e-5)
    assert ("word_perplexity" in scores) == (kind == "char")
    assert found.scores["perplexity"] == pytest.approx(math.exp(found.loss))
    if kind == "char":
        assert found.scores["bits_per_character"] == pytest.approx(found.loss / math.log(2))
    assert 0 <= found.scores["token_accuracy"] <= 1


def test_the_state_of_validation_is_carried_over_its_windows(lm_task, lines, monkeypatch):
    task = lm_task(lines(60), lines(20, seed=1), data=CONTINUOUS)
    at_once = task.validate(torch.device("cpu"))
    monkeypatch.setattr(import_module("regard.tasks.language_model.task"), "_STEPS", 3)
    assert task.validate(torch.device("cpu")).loss == pytest.approx(at_once.loss, rel=1e-6)


def test_streams_of_validation_are_few_and_carried(lm_task, lines):
    """12,000 tokens in ten streams: exactly those read at once, and all but what one stream gives."""
    valid = lines(2700, seed=1)
    task = lm_task(lines(60), valid, data=CONTINUOUS)
    tokens = sum(line.length for line in task.prepared.valid)
    assert tokens > 10_000
    with torch.no_grad():
        for parameter in task.model.parameters():
            parameter.uniform_(-1, 1)  # so that what was read is felt
    found = task.validate(torch.device("cpu"))
    [whole] = Stream([line.ids for line in task.prepared.valid], 10, tokens)
    nats = -float(score_tokens(task.model, whole).log_probs.double().sum())
    assert found.loss == pytest.approx(nats / tokens, rel=1e-6)
    one = LanguageModel(task.model.eval(), task.tokenizers["text"]).perplexity(valid, mode="continuous")
    assert found.loss != one.loss
    assert found.loss == pytest.approx(one.loss, rel=2e-3)
    assert one.num_tokens == tokens


def test_refusals(lm_config):
    with pytest.raises(ConfigError, match=r"data.train: no training text; name a file with --train text.txt"):
        prepare_task(lm_config(), None, None)
    with pytest.raises(
        ConfigError, match=r"lstmn cells attend to all they have read.*set model.memory.span \(to 35"
    ):
        lm_config(data={"mode": "continuous"}, model=model_of("lstmn"))
    with pytest.raises(DataError, match=r"2 tokens.* as 4 streams.*lower training.batch_sentences \(now 4\)"):
        prepare_task(lm_config(data={"mode": "continuous"}), ["a"], ["a"])
    with pytest.raises(ConfigError, match=r"data.mode: no 'sentence'; did you mean 'sentences'"):
        lm_config(data={"mode": "sentence"})
    with pytest.raises(ConfigError, match=r"training.select: no 'bleu'"):
        lm_config(training={"select": "bleu"})
