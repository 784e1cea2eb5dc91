"""Scheduled sampling, against a decoder whose next word is known for certain."""

import math

import pytest
import torch

from regard.batches import pad_pairs
from regard.tasks.translate.objective import mix_in_samples, sampled_share
from regard.text.specials import BOS, PAD


def tensors(batch):
    """Its tensors, in the order of the fields."""
    return [value for value in vars(batch).values() if isinstance(value, torch.Tensor)]


@pytest.fixture
def batch(prepared):
    return pad_pairs(prepared.train[:12])


def chance(seed=1):
    return torch.Generator().manual_seed(seed)


def always(model, word):
    """Make a model say one word whatever it reads."""
    with torch.no_grad():
        model.decoder.output.W_o.zero_()
        model.decoder.output.b_o.fill_(-100.0)
        model.decoder.output.b_o[word] = 100.0
    return model


@pytest.mark.parametrize(
    ("schedule", "progress", "share"),
    [
        ("linear", 0.0, 0.0),
        ("linear", 0.25, 0.1),
        ("linear", 1.0, 0.4),
        ("sigmoid", 0.0, 0.4 / (1 + math.exp(6))),
        ("sigmoid", 0.5, 0.2),
        ("sigmoid", 1.0, 0.4 / (1 + math.exp(-6))),
    ],
)
def test_the_share_grows_over_the_run(schedule, progress, share):
    assert sampled_share(0.4, schedule, progress) == pytest.approx(share)


def test_with_no_share_nothing_changes(small_model, batch):
    same = mix_in_samples(small_model(), batch, 0.0, chance())
    assert all(torch.equal(one, other) for one, other in zip(tensors(same), tensors(batch), strict=True))


def test_with_the_whole_share_all_words_are_the_model_s_own(small_model, batch):
    word = 6
    read = mix_in_samples(always(small_model(), word), batch, 1.0, chance())
    assert (read.previous_ids[:, 0] == BOS).all(), "BOS is never replaced"
    assert (read.previous_ids[:, 1:] == word).all()
    assert torch.equal(read.target_ids, batch.target_ids), "what is to be predicted stays"
    assert torch.equal(read.target_mask, batch.target_mask)


def test_about_the_share_is_replaced(small_model, prepared):
    word = 6
    batch = pad_pairs(prepared.train)
    read = mix_in_samples(always(small_model(), word), batch, 0.3, chance())
    replaceable = batch.previous_ids[:, 1:] != word
    replaced = (read.previous_ids[:, 1:] == word)[replaceable].float().mean()
    # of some 200 positions: within four standard deviations
    assert float(replaced) == pytest.approx(0.3, abs=4 * math.sqrt(0.21 / int(replaceable.sum())))
    kept = replaceable & (read.previous_ids[:, 1:] != word)
    assert torch.equal(read.previous_ids[:, 1:][kept], batch.previous_ids[:, 1:][kept])


def test_each_own_word_follows_from_the_words_read_before_it(small_model, batch):
    """Along a greedy path: a model that is sure of itself must say what its own decoder says step by step."""
    model = small_model().eval()
    with torch.no_grad():
        model.decoder.output.W_o.mul_(1e4)  # so sure that sampling is taking the most probable
        model.decoder.output.b_o[[PAD, BOS]] = -1e9
    read = mix_in_samples(model, batch, 1.0, chance())
    encoded = model.encode(batch.source_ids, batch.source_mask)
    state, word = model.decoder.initial_state(encoded), read.previous_ids[:, 0]
    for t in range(1, batch.previous_ids.shape[1]):
        with torch.no_grad():
            output = model.decoder.step(word, state, encoded)
        state, word = output.state, output.logits.argmax(dim=-1)
        assert torch.equal(read.previous_ids[:, t], word)


def test_the_same_seed_gives_the_same_words_and_padding_is_never_drawn(small_model, batch):
    model = small_model()
    with torch.no_grad():
        model.decoder.output.b_o[[PAD, BOS]] = 50.0
    one, other = (mix_in_samples(model, batch, 0.8, chance(3)).previous_ids for _ in range(2))
    assert torch.equal(one, other)
    assert not torch.equal(one, mix_in_samples(model, batch, 0.8, chance(4)).previous_ids)
    own = one != batch.previous_ids
    assert own.any()
    assert not torch.isin(one[own], torch.tensor([PAD, BOS])).any()


def test_the_model_stays_in_its_mode_and_gets_no_gradient(small_model, batch):
    for training in (True, False):
        model = small_model().train(training)
        mix_in_samples(model, batch, 0.5, chance())
        assert model.training is training
        assert all(parameter.grad is None for parameter in model.parameters())
