"""Fixtures of the models' tests: parameters that are neither zero nor alike, padding, and every gradient."""

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor, nn


@pytest.fixture
def scattered() -> Callable[[nn.Module], nn.Module]:
    """Make a model fit for laws: float64, in evaluation mode, no parameter zero or alike."""

    def scatter(model: nn.Module) -> nn.Module:
        generator = torch.Generator().manual_seed(3)
        model = model.double().eval()
        for parameter in model.parameters():
            nn.init.normal_(parameter, std=0.7, generator=generator)
        return model

    return scatter


@pytest.fixture
def same() -> Callable[..., None]:
    """Assert that two lists of tensors agree, to what float64 leaves of sums in another order."""

    def check(ours: Sequence[Tensor], theirs: Sequence[Tensor]) -> None:
        for one, other in zip(ours, theirs, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-11)

    return check


@pytest.fixture
def widened() -> Callable[..., tuple[Tensor, Tensor]]:
    """The same rows with more padding, and arbitrary words in all padding."""

    def widen(ids: Tensor, mask: Tensor, extra: int, high: int = 9) -> tuple[Tensor, Tensor]:
        mask = torch.cat([mask, torch.zeros(len(mask), extra, dtype=torch.bool)], dim=1)
        garbage = torch.randint(1, high, mask.shape)
        kept = slice(None, ids.shape[1])
        garbage[:, kept] = torch.where(mask[:, kept], ids, garbage[:, kept])
        return garbage, mask

    return widen


@pytest.fixture
def gradients_of() -> Callable[[nn.Module, Tensor], list[Tensor]]:
    """The gradient of a loss to every parameter, zero where there is none."""

    def gradients(model: nn.Module, loss: Tensor) -> list[Tensor]:
        return list(torch.autograd.grad(loss, list(model.parameters()), materialize_grads=True))

    return gradients
