"""A pair of passes derived by hand as one node of autograd's graph, with names in the place of positions."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.ops.paths import first_derivative_only

Tensors = dict[str, Tensor]
"""By name; what does not exist is left out."""


class Passes(NamedTuple):
    """A forward pass and its derivative.

    Attributes:
        forward: (options, what is given) → what is made, and what the backward pass reads.
        backward: (options, what was kept, ∂/∂(what was made), without what nothing took) → ∂/∂(what was given), without
            what has none.
    """

    forward: Callable[[Any, Tensors], tuple[Tensors, Tensors]]
    backward: Callable[[Any, Tensors, Tensors], Tensors]


class _Node(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, passes: Passes, options: Any, names: tuple[str, ...], made: list[str], *tensors: Tensor
    ) -> tuple[Tensor, ...]:
        outputs, kept = passes.forward(options, dict(zip(names, tensors, strict=True)))
        made += outputs
        ctx.passes, ctx.options, ctx.names, ctx.made, ctx.kept = passes, options, names, made, tuple(kept)
        ctx.save_for_backward(*kept.values())
        ctx.set_materialize_grads(False)
        return tuple(outputs.values())

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        kept = dict(zip(ctx.kept, ctx.saved_tensors, strict=True))
        taken = {name: each for name, each in zip(ctx.made, gradients, strict=True) if each is not None}
        found = ctx.passes.backward(ctx.options, kept, taken)
        return None, None, None, None, *(found.get(name) for name in ctx.names)


def differentiable(passes: Passes, options: Any, given: Mapping[str, Tensor | None]) -> Tensors:
    """Run the forward pass; autograd then knows its derivative.

    Args:
        passes: both.
        options: what they take that is no tensor.
        given: tensors by name; None for what does not exist.

    Returns:
        What the forward pass made, by name.
    """
    there = {name: tensor for name, tensor in given.items() if tensor is not None}
    made: list[str] = []
    outputs = _Node.apply(passes, options, tuple(there), made, *there.values())  # type: ignore[no-untyped-call]
    return dict(zip(made, outputs, strict=True))
