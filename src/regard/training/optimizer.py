"""The optimizers by name."""

from typing import Any

from torch import nn
from torch.optim import SGD, Adadelta, Adam, AdamW, Optimizer

from regard.models import groups_by_depth
from regard.training.config import TrainingConfig


def build_optimizer(model: nn.Module, config: TrainingConfig) -> Optimizer:
    """The optimizer a config describes, over a model's parameters: in groups from the head down where depth matters.

    Adadelta has the constants of Bahdanau et al. 2015 (B.2): ρ = 0.95, ε = 10⁻⁶. The others run as one fused
    kernel, except under float16, whose loss scaling wants the gradients in between.
    """
    fused = config.precision != "16"
    parameters: list[Any] = list(model.parameters())
    if config.depth_decay != 1 or config.thaw_every:
        parameters = [{"params": group.parameters} for group in groups_by_depth(model)]
    match config.optimizer:
        case "adam":
            return Adam(parameters, lr=config.rate, fused=fused)
        case "adamw":
            return AdamW(parameters, lr=config.rate, weight_decay=config.weight_decay, fused=fused)
        case "sgd":
            return SGD(
                parameters,
                lr=config.rate,
                momentum=config.momentum,
                weight_decay=config.weight_decay,
                fused=fused,
            )
        case "adadelta":
            return Adadelta(parameters, lr=config.rate, rho=0.95, eps=1e-6)
    raise ValueError(f"no optimizer {config.optimizer!r}")
