import pytest
import torch

from regard.errors import ConfigError
from regard.inference.averaging import average_models


def test_every_parameter_is_the_mean(tiny_model):
    kinds = [tiny_model("bahdanau") for _ in range(3)]
    with torch.no_grad():
        for factor, each in enumerate(kinds, start=1):
            for value in each.parameters():
                value.mul_(factor**2)
    before = [{name: value.clone() for name, value in each.named_parameters()} for each in kinds]
    made = average_models(iter(kinds))
    assert made is kinds[0]
    for name, value in made.named_parameters():
        wanted = torch.stack([each[name].double() for each in before]).sum(0) / 3
        torch.testing.assert_close(value.double(), wanted, rtol=0, atol=1e-15)  # one rounding
    assert any(not torch.equal(value, before[0][name]) for name, value in made.named_parameters())
    for name, value in kinds[1].named_parameters():
        assert torch.equal(value, before[1][name]), "the others stay as they are"


def test_the_sums_are_float64():
    """In float32 the small one would be lost beside the great ones, and with it the whole mean."""
    models = [torch.nn.Linear(1, 1, bias=False) for _ in range(3)]
    with torch.no_grad():
        for model, value in zip(models, (2.0**30, 3.0, -(2.0**30)), strict=True):
            model.weight.fill_(value)
    assert average_models(models).weight.item() == 1.0


def test_a_model_is_its_own_mean(tiny_model):
    models = [tiny_model("luong").float() for _ in range(7)]
    wanted = {name: value.clone() for name, value in models[0].named_parameters()}
    for name, value in average_models(models).named_parameters():
        assert torch.equal(value, wanted[name])


def test_what_is_measured_is_averaged_too():
    models = [torch.nn.BatchNorm1d(2) for _ in range(2)]
    models[1].running_mean.fill_(4.0)
    assert average_models(models).running_mean.tolist() == [2.0, 2.0]


def test_another_shape(tiny_model):
    with pytest.raises(
        ConfigError, match=r"weight: \(2, 3\) in the first model and \(2, 4\) in number 2; only"
    ):
        average_models([torch.nn.Linear(3, 2), torch.nn.Linear(4, 2)])
    with pytest.raises(ConfigError, match=r"bias: \(2,\) in the first model and missing in number 2"):
        average_models([torch.nn.Linear(3, 2), torch.nn.Linear(3, 2, bias=False)])


def test_none():
    with pytest.raises(ConfigError, match="no models to average"):
        average_models([])
