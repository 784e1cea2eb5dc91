"""Features of any scale come out with mean 0 and variance 1; what never changes is only centred."""

import torch

from regard.layers import Standardize


def test_mean_and_variance():
    features = torch.randn(200, 3) * torch.tensor([1e-3, 1.0, 1e5]) + torch.tensor([5.0, 0.0, -3e5])
    layer = Standardize(3)
    assert torch.equal(layer(features), features)
    layer.fit(features)
    found = layer(features)
    torch.testing.assert_close(found.mean(dim=0), torch.zeros(3), atol=1e-3, rtol=0)
    torch.testing.assert_close(found.std(dim=0, correction=0), torch.ones(3), atol=1e-3, rtol=0)


def test_what_never_changes_is_only_centred():
    features = torch.full((7, 2), 0.1)
    features[:, 1] = torch.arange(7)
    layer = Standardize(2)
    layer.fit(features)
    assert layer.scale[0] == 1
    assert layer.scale[1] == 2
    torch.testing.assert_close(layer(features)[:, 0], torch.zeros(7))
    # rounding is no variance: differences below float32's resolution are not blown up
    almost = torch.tensor([[3000.0], [3000.0002]])
    one = Standardize(1)
    one.fit(almost)
    assert one(almost).abs().max() < 1e-3


def test_measured_and_not_learnt():
    layer = Standardize(2)
    assert not list(layer.parameters())
    assert set(layer.state_dict()) == {"mean", "scale"}
