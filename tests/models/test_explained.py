"""Which backend computes each op of a model, and that asking changes nothing."""

import pytest
import torch

from regard.models import (
    CaptionerConfig,
    CaptionerNetwork,
    ClassifierConfig,
    ClassifierNetwork,
    LanguageModelConfig,
    LanguageModelNetwork,
    TaggerConfig,
    TaggerNetwork,
)
from regard.models.explained import explain_model
from regard.ops.native import load, native_off

compiled = pytest.mark.skipif(load().library is None, reason=f"no C kernels here: {load().reason}")
SMALL = {"embedding_size": 4, "state_size": 4}


@compiled
def test_a_recurrence_of_several_layers_is_told_once():
    model = LanguageModelNetwork(LanguageModelConfig(cell="lstm", num_layers=2, **SMALL), 7)
    assert [(choice.op, choice.backend) for choice in explain_model(model)] == [("lstm", "C")]
    with native_off():
        (choice,) = explain_model(model)
    assert (choice.backend, choice.reasons["C"]) == ("torch", "native_off() is on")


@compiled
def test_a_decoder_whose_steps_are_looped_over_says_why(tiny_model):
    ops = {choice.op: choice for choice in explain_model(tiny_model(num_layers=2))}
    assert ops["attending recurrence"].reasons["C"] == "it has 2 layers"


@compiled
def test_every_network_can_be_asked():
    encoder = {"encoder": {"cell": "gru", **SMALL}}
    networks = [
        ClassifierNetwork(ClassifierConfig.from_mapping(encoder, "model"), 7, 2),
        TaggerNetwork(TaggerConfig.from_mapping(encoder, "model"), 7, 3),
        CaptionerNetwork(CaptionerConfig(), 5, 7),
    ]
    assert all(explain_model(network) for network in networks)
    assert explain_model(torch.nn.Linear(2, 2)) == []


def test_asking_changes_nothing():
    model = LanguageModelNetwork(LanguageModelConfig(cell="lstmn", dropout=0.5, **SMALL), 7).eval()
    before = [parameter.clone() for parameter in model.parameters()]
    torch.manual_seed(4)
    expected = torch.rand(3)
    torch.manual_seed(4)
    explain_model(model)
    assert torch.equal(torch.rand(3), expected)
    assert not model.training
    assert all(map(torch.equal, before, model.parameters()))
    assert all(parameter.grad is None for parameter in model.parameters())
