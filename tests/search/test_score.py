"""A language model along given words: the same in windows as at once, and what its steps say."""

from importlib import import_module

import pytest
import torch

from regard.batches import LineBatch, Stream, pad_lines
from regard.models import LanguageModelConfig, LanguageModelNetwork
from regard.search import score_tokens
from regard.text.specials import BOS

LINES = [[4, 5, 6], [7], [5, 5, 8, 4]]


def tensors(batch):
    """Its tensors, in the order of the fields."""
    return [value for value in vars(batch).values() if isinstance(value, torch.Tensor)]


@pytest.fixture
def model():
    torch.manual_seed(1)
    config = LanguageModelConfig(cell="lstm", embedding_size=5, state_size=6, dropout=0.5)
    return LanguageModelNetwork(config, 9).eval()


@torch.no_grad()
def test_it_is_what_the_steps_say(model):
    batch = pad_lines(LINES)
    scores = score_tokens(model, batch)
    found = iter(zip(scores.log_probs.tolist(), scores.right.tolist(), strict=True))
    for ids in LINES:
        state, previous = model.initial_state(1), torch.tensor([BOS])
        for token in [*ids, 3]:
            logits, state = model.step(previous, state)
            log_prob, right = next(found)
            assert log_prob == pytest.approx(float(logits.log_softmax(-1)[0, token]), abs=1e-5)
            assert right == (int(logits.argmax()) == token)
            previous = torch.tensor([token])
    assert next(found, None) is None


def test_a_long_row_in_windows_is_the_row_at_once(model, monkeypatch):
    [row] = Stream(LINES, 1, 99)
    whole = score_tokens(model, row)
    monkeypatch.setattr(import_module("regard.search.forced"), "_STEPS", 3)
    parts = score_tokens(model, row)
    torch.testing.assert_close(parts.log_probs, whole.log_probs)
    torch.testing.assert_close(parts.state[0][0], whole.state[0][0])


def test_going_on_from_a_state(model):
    [row] = Stream(LINES, 1, 99)
    whole = score_tokens(model, row)
    first = score_tokens(model, LineBatch(*(tensor[:, :5] for tensor in tensors(row))))
    second = score_tokens(model, LineBatch(*(tensor[:, 5:] for tensor in tensors(row))), first.state)
    torch.testing.assert_close(torch.cat([first.log_probs, second.log_probs]), whole.log_probs)
