"""Dropout: nothing in evaluation, the mean kept in training, one mask per sentence when variational."""

import torch

from regard.layers import Dropout


def test_evaluation_is_the_identity():
    dropout = Dropout(0.5).eval()
    x = torch.randn(2, 3, 4)
    assert dropout(x) is x
    assert dropout.sample_mask(2, 3, 4, x) is None


def test_a_share_of_zero_is_the_identity_in_training_too():
    x = torch.randn(2, 3, 4)
    assert Dropout(0.0).train()(x) is x


def test_the_mean_is_kept_and_the_share_is_dropped():
    ones = torch.ones(100, 100, 20)
    dropped = Dropout(0.3).train()(ones)
    # 200,000 samples: a standard error of 0.0015 for the mean
    assert abs(dropped.mean().item() - 1) < 0.01
    assert abs((dropped == 0).float().mean().item() - 0.3) < 0.01
    kept = dropped[dropped != 0]
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / 0.7))


def test_a_fresh_mask_for_each_word_unless_variational():
    ones = torch.ones(3, 8, 50)
    fresh = Dropout(0.5).train()(ones)
    steady = Dropout(0.5, variational=True).train()(ones)
    assert not torch.equal(fresh[:, 0], fresh[:, 1])
    assert torch.equal(steady, steady[:, :1].expand_as(steady))
    assert not torch.equal(steady[0], steady[1]), "each sentence has its own"


def test_masks_come_in_the_kind_of_the_activations():
    mask = Dropout(0.5).train().sample_mask(1, 2, 3, torch.zeros(1, dtype=torch.float64))
    assert mask.dtype == torch.float64
