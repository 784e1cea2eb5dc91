"""Forced decoding against the model's own words on each pair."""

import math

import numpy as np
import pytest
import torch

from regard.batches import pad_pairs
from regard.search.forced import decode_forced
from regard.text.pairs import EncodedPair
from regard.text.specials import EOS

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
    """p is a distribution: each first word's p is the sum over what may follow, here by the end mark or not."""
    model = tiny_model("bahdanau")
    firsts = decode_forced(model, pad_pairs([EncodedPair([4, 5], [word]) for word in range(9)]))
    assert sum(math.exp(one.token_log_probs[0]) for one in firsts) == pytest.approx(1.0)


def test_no_gradient_is_kept(tiny_model):
    model = tiny_model("luong")
    decode_forced(model, pad_pairs(PAIRS))
    assert all(parameter.grad is None for parameter in model.parameters())
