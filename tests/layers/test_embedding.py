"""Ids become rows of E, which can be shared; features are standardised."""

import torch

from regard.layers import Embedding, Standardize


def test_each_id_is_its_row():
    embedding = Embedding(5, 3)
    ids = torch.tensor([[4, 0], [2, 4]])
    assert torch.equal(embedding(ids), embedding.E[ids])
    assert embedding(torch.tensor(3)).shape == (3,)


def test_vectors_start_with_a_length_of_about_one():
    lengths = Embedding(2000, 64).E.norm(dim=1)
    # the mean of 2,000 lengths whose own spread is about 1/√128
    assert abs(lengths.mean().item() - 1) < 0.02


def test_a_shared_matrix_is_one_matrix_and_gathers_both_gradients():
    one = Embedding(5, 3)
    before = one.E.clone()
    other = Embedding(5, 3, shared=one.E)
    assert other.E is one.E
    assert torch.equal(one.E, before)
    (one(torch.tensor([1])).sum() + other(torch.tensor([1, 2])).sum()).backward()
    assert one.E.grad[:, 0].tolist() == [0, 2, 1, 0, 0]


def test_standardized_features_have_mean_0_and_variance_1():
    features = torch.randn(200, 3) * torch.tensor([1e-3, 1.0, 1e5]) + torch.tensor([5.0, 0.0, -3e5])
    layer = Standardize(3)
    assert torch.equal(layer(features), features)
    layer.fit(features)
    standard = layer(features)
    torch.testing.assert_close(standard.mean(dim=0), torch.zeros(3), atol=1e-3, rtol=0)
    torch.testing.assert_close(standard.std(dim=0, correction=0), torch.ones(3), atol=1e-3, rtol=0)


def test_a_constant_feature_is_only_centred():
    features = torch.full((7, 2), 0.1)
    features[:, 1] = torch.arange(7)
    layer = Standardize(2)
    layer.fit(features)
    assert layer.scale[0] == 1
    assert layer.scale[1] == 2
    torch.testing.assert_close(layer(features)[:, 0], torch.zeros(7))
    # differences below float32's resolution are not amplified
    almost = torch.tensor([[3000.0], [3000.0002]])
    one = Standardize(1)
    one.fit(almost)
    assert one(almost).abs().max() < 1e-3


def test_the_statistics_are_buffers():
    layer = Standardize(2)
    assert not list(layer.parameters())
    assert set(layer.state_dict()) == {"mean", "scale"}
