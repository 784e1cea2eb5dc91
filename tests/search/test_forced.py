"""Forced decoding of pairs, and of lines by a language model."""

import math
from importlib import import_module

import numpy as np
import pytest
import torch

from regard.batches import LineBatch, Stream, pad_lines, pad_pairs
from regard.models import LanguageModelConfig, LanguageModelNetwork
from regard.search.forced import decode_forced, score_tokens
from regard.text.pairs import EncodedPair
from regard.text.specials import BOS, EOS

PAIRS = [EncodedPair([4, 5, 6], [5, 4]), EncodedPair([], []), EncodedPair([7], [8, 5, 6])]


@pytest.mark.parametrize("kind", ["bahdanau", "luong", "cho", "sutskever"])
def test_log_probabilities_are_the_models(kind, tiny_model):
    model = tiny_model(kind)
    found = decode_forced(model, pad_pairs(PAIRS), length_power=0.6)
    for pair, one in zip(PAIRS, found, strict=True):
        assert one.ids == (*pair.target_ids, EOS)
        result = model(pad_pairs([pair]))
        expected = torch.log_softmax(result.logits, dim=-1)[range(len(one.ids)), one.ids]
        assert one.token_log_probs == pytest.approx(expected.tolist())
        assert one.log_prob == pytest.approx(expected.sum().item())
        assert one.score == pytest.approx(expected.sum().item() / len(one.ids) ** 0.6)
        if kind in ("cho", "sutskever"):
            assert one.alpha is None
        else:
            assert one.alpha.shape == (len(one.ids), len(pair.source_ids) + 1)
            assert one.alpha.dtype == np.float32
            np.testing.assert_allclose(one.alpha, result.alpha[0].detach(), atol=1e-6)


def test_probabilities_of_all_outputs_of_one_length_and_their_beginnings_sum_to_one(tiny_model):
    """p is a distribution: each first word's p is the sum over what may follow, here by EOS or not."""
    model = tiny_model("bahdanau")
    firsts = decode_forced(model, pad_pairs([EncodedPair([4, 5], [word]) for word in range(9)]))
    assert sum(math.exp(one.token_log_probs[0]) for one in firsts) == pytest.approx(1.0)


def test_no_gradient_is_kept(tiny_model):
    model = tiny_model("luong")
    decode_forced(model, pad_pairs(PAIRS))
    assert all(parameter.grad is None for parameter in model.parameters())


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
    monkeypatch.setattr(import_module("regard.search.forced"), "_WINDOW", 3)
    parts = score_tokens(model, row)
    torch.testing.assert_close(parts.log_probs, whole.log_probs)
    torch.testing.assert_close(parts.state[0][0], whole.state[0][0])


def test_going_on_from_a_state(model):
    [row] = Stream(LINES, 1, 99)
    whole = score_tokens(model, row)
    first = score_tokens(model, LineBatch(*(tensor[:, :5] for tensor in tensors(row))))
    second = score_tokens(model, LineBatch(*(tensor[:, 5:] for tensor in tensors(row))), first.state)
    torch.testing.assert_close(torch.cat([first.log_probs, second.log_probs]), whole.log_probs)
