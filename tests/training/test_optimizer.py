import pytest
import torch
from torch import nn

from regard.models import ClassifierConfig, ClassifierNetwork, EncoderConfig
from regard.models.transfer import layer_groups
from regard.tasks.config import OPTIMIZERS, TrainingConfig
from regard.training.optimizer import build_optimizer

GRADIENT = torch.tensor([0.5, -2.0])


def stepped(name, count=1, **options):
    """A parameter after some updates by one fixed gradient."""
    weight = nn.Parameter(torch.tensor([1.0, 1.0]))
    optimizer = build_optimizer(
        nn.ParameterList([weight]),
        TrainingConfig(optimizer=name, learning_rate=0.1, max_updates=1, **options),
    )
    for _ in range(count):
        weight.grad = GRADIENT.clone()
        optimizer.step()
    return weight.detach()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_each_goes_downhill(name):
    moved = stepped(name) - 1
    assert (torch.sign(moved) == -torch.sign(GRADIENT)).all()


@pytest.mark.parametrize(
    ("name", "expected"), [("adam", "Adam"), ("adamw", "AdamW"), ("sgd", "SGD"), ("adadelta", "Adadelta")]
)
def test_by_name(name, expected):
    optimizer = build_optimizer(
        nn.Linear(1, 1), TrainingConfig(optimizer=name, learning_rate=0.25, max_updates=1)
    )
    assert type(optimizer).__name__ == expected
    assert optimizer.param_groups[0]["lr"] == 0.25


def test_sgd_by_hand():
    torch.testing.assert_close(stepped("sgd"), 1 - 0.1 * GRADIENT)
    # velocity: g, then 0.5 g + g
    torch.testing.assert_close(stepped("sgd", 2, momentum=0.5), 1 - 0.1 * GRADIENT * (1 + 1.5))
    torch.testing.assert_close(stepped("sgd", weight_decay=0.3), 1 - 0.1 * (GRADIENT + 0.3))


def test_adam_by_hand():
    """The first step is the rate itself, in the gradient's direction."""
    torch.testing.assert_close(stepped("adam"), 1 - 0.1 * torch.sign(GRADIENT))
    torch.testing.assert_close(stepped("adamw", weight_decay=0.3), 1 - 0.1 * 0.3 - 0.1 * torch.sign(GRADIENT))


def test_adadelta_has_the_paper_s_constants():
    """Zeiler's first step: −√ε / √((1 − ρ) g² + ε) · g with ρ = 0.95 and ε = 10⁻⁶."""
    step = (1e-6**0.5) / ((1 - 0.95) * GRADIENT**2 + 1e-6).sqrt() * GRADIENT
    torch.testing.assert_close(stepped("adadelta"), 1 - 0.1 * step)


def test_float16_gradients_are_scaled_between_backward_and_step():
    """A fused kernel would step on gradients that are not yet unscaled."""
    for precision, fused in (("32", True), ("bf16", True), ("16", False)):
        config = TrainingConfig(optimizer="adam", precision=precision, max_updates=1)
        optimizer = build_optimizer(nn.Linear(1, 1), config)
        assert optimizer.param_groups[0]["fused"] is fused


def test_depth_parts_the_parameters_from_the_head_down():
    """Each once, in the order of `layer_groups`; without depth in one group."""
    encoder = EncoderConfig(embedding_size=3, state_size=2, num_layers=2)
    model = ClassifierNetwork(ClassifierConfig(encoder), 9, 2)
    groups = layer_groups(model)
    assert [group.name for group in groups] == ["head", "layer 2", "layer 1", "embedding"]
    for options in ({"depth_decay": 0.5}, {"unfreeze_every": 1.0}):
        optimizer = build_optimizer(model, TrainingConfig(max_updates=1, **options))
        found = [[id(p) for p in group["params"]] for group in optimizer.param_groups]
        assert found == [[id(p) for p in group.parameters] for group in groups]
        assert sum(map(len, found)) == len(list(model.parameters()))
    assert len(build_optimizer(model, TrainingConfig(max_updates=1)).param_groups) == 1


@pytest.mark.parametrize("options", [{}, {"depth_decay": 0.5}], ids=["one group", "groups by depth"])
@pytest.mark.parametrize("name", ["adam", "adamw", "sgd"])
def test_the_fused_kernel_steps_as_the_plain_one(name, options):
    """Float16 asks for the plain one; both see the same gradients, and end within rounding of each other."""
    ended = []
    for precision in ("32", "16"):
        torch.manual_seed(1)
        model = ClassifierNetwork(ClassifierConfig(EncoderConfig(embedding_size=3, state_size=2)), 9, 2)
        decay = 0.0 if name == "adam" else 0.1
        config = TrainingConfig(
            optimizer=name,
            learning_rate=0.01,
            weight_decay=decay,
            precision=precision,
            max_updates=1,
            **options,
        )
        optimizer = build_optimizer(model, config)
        for _ in range(20):
            for parameter in model.parameters():
                parameter.grad = torch.randn_like(parameter)
            optimizer.step()
        ended.append(torch.cat([parameter.detach().flatten() for parameter in model.parameters()]))
    torch.testing.assert_close(*ended, rtol=1e-5, atol=1e-6)
