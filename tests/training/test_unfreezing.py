"""Rates by depth and gradual thawing: which groups learn when, how fast, and that the frozen ones stay bit by bit."""

import pytest
import torch

from regard.batches import pad_texts
from regard.models import ClassifierConfig, ClassifierNetwork, EncoderConfig, groups_by_depth
from regard.tasks.config import TrainingConfig
from regard.training.optimizer import Unfreezing, build_optimizer

NAMES = ["head", "layer 2", "layer 1", "embedding"]
BATCH = pad_texts([[[4, 5, 6]], [[7, 8]]])


@pytest.fixture
def model():
    encoder = EncoderConfig(cell="lstm", embedding_size=3, state_size=4, num_layers=2, bidirectional=False)
    return ClassifierNetwork(ClassifierConfig(encoder, pooling_size=3), 9, 2)


def copies(model):
    return {group.name: [p.detach().clone() for p in group.parameters] for group in groups_by_depth(model)}


def changed(model, before):
    """The groups of which any number is another; and every parameter of such a group is."""
    names = []
    for group in groups_by_depth(model):
        same = [
            torch.equal(one, other) for one, other in zip(group.parameters, before[group.name], strict=True)
        ]
        if not all(same):
            assert not any(same), group.name
            names.append(group.name)
    return names


def learn(model, optimizer):
    loss = -model(BATCH).logits.log_softmax(-1)[:, 0].sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def start(model, **training):
    config = TrainingConfig(max_updates=1, learning_rate=0.1, **training)
    return build_optimizer(model, config), config


@pytest.mark.parametrize("name", ["adam", "adamw", "sgd", "adadelta"])
def test_the_head_learns_first_and_one_layer_more_after_each_while(model, name):
    """Every half an epoch of four updates: the groups that change are the top one, two, three, then all."""
    decay = {"weight_decay": 0.5} if name in ("adamw", "sgd") else {}
    optimizer, config = start(model, unfreeze_every=0.5, optimizer=name, **decay)
    unfreezing = Unfreezing(optimizer, config, updates_per_epoch=4)
    for update in range(10):
        before = copies(model)
        unfreezing.set_learning_rates(0.1, update)
        learn(model, optimizer)
        assert changed(model, before) == NAMES[: 1 + update // 2], update


def test_the_frozen_have_no_gradient_and_are_thawed_again(model):
    optimizer, config = start(model, unfreeze_every=1.0)
    unfreezing = Unfreezing(optimizer, config, updates_per_epoch=1)
    learning = [p.requires_grad for p in groups_by_depth(model)[1].parameters]
    assert not any(learning), "before the first update too"
    unfreezing.set_learning_rates(0.1, 99)
    assert all(p.requires_grad for p in model.parameters())


def test_rates_fall_by_depth(model):
    optimizer, config = start(model, depth_decay=0.5)
    unfreezing = Unfreezing(optimizer, config, updates_per_epoch=4)
    for learning_rate in (0.1, 0.04):
        unfreezing.set_learning_rates(learning_rate, 0)
        assert [group["lr"] for group in optimizer.param_groups] == [learning_rate * 0.5**k for k in range(4)]
    assert all(p.requires_grad for p in model.parameters()), (
        "nothing is frozen where thawing is not asked for"
    )


def test_a_rate_of_its_own_is_what_each_group_learns_at(model):
    """By plain gradient descent a step is rate × gradient."""
    optimizer, config = start(model, depth_decay=0.5, optimizer="sgd")
    Unfreezing(optimizer, config, updates_per_epoch=4).set_learning_rates(0.1, 0)
    before = copies(model)
    (-model(BATCH).logits.log_softmax(-1)[:, 0].sum()).backward()
    gradients = {group.name: [p.grad.clone() for p in group.parameters] for group in groups_by_depth(model)}
    optimizer.step()
    for depth, group in enumerate(groups_by_depth(model)):
        parts = zip(group.parameters, before[group.name], gradients[group.name], strict=True)
        for now, then, gradient in parts:
            torch.testing.assert_close(now.detach(), then - 0.1 * 0.5**depth * gradient)


def test_without_either_there_is_one_group_at_the_plain_rate(model):
    optimizer, config = start(model)
    unfreezing = Unfreezing(optimizer, config, updates_per_epoch=4)
    unfreezing.set_learning_rates(0.03, 7)
    assert [group["lr"] for group in optimizer.param_groups] == [0.03]
    before = copies(model)
    learn(model, optimizer)
    assert changed(model, before) == NAMES
