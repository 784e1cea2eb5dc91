"""One update: forward, backward, clipping, optimizer."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from regard.errors import RegardError
from regard.tasks.base import TrainingBatch


@dataclass(frozen=True)
class Updated:
    """What one update did.

    Attributes:
        loss: the loss a prediction, in nats.
        gradient_norm: before clipping.
        num_tokens: predictions learnt from, end marks counted.
    """

    loss: float
    gradient_norm: float
    num_tokens: int


def update(
    fabric: Any,
    model: Any,
    optimizer: Optimizer,
    batches: Sequence[TrainingBatch],
    learn: Callable[[TrainingBatch], Tensor],
    *,
    clip: float,
    normalize: str = "tokens",
    scaled: bool = False,
) -> Updated:
    """Learn from some batches at once; the loss is a mean over all of them together.

    Args:
        fabric: Lightning Fabric, which knows the device, the precision and the processes.
        model: the task's objective as `fabric.setup` returned it.
        optimizer: likewise.
        batches: one, or as many as gradients are accumulated over.
        learn: a batch's loss by that model, a sum over its predictions.
        clip: the greatest norm of the gradient; 0 for no limit.
        normalize: what the loss is a mean over, ``tokens`` or ``sentences``.
        scaled: whether float16's loss scaling is on, which passes over updates that overflow by itself.

    Raises:
        RegardError: the loss or the gradient is no number any more; the weights are as they were.
    """
    num_tokens = sum(batch.num_tokens for batch in batches)
    count = num_tokens if normalize == "tokens" else sum(batch.num_sentences for batch in batches)
    losses = []
    for k, batch in enumerate(batches):
        with fabric.no_backward_sync(model, enabled=k < len(batches) - 1):
            loss = learn(batch)
            fabric.backward(loss / count)
        losses.append(loss.detach())
    norm = fabric.clip_gradients(model, optimizer, max_norm=clip or math.inf, error_if_nonfinite=False)
    # one transfer: an update waits for its device once, and before the weights move
    *sums, gradient_norm = torch.stack([*losses, norm.to(losses[0])]).tolist()
    total = sum(sums)
    if not math.isfinite(total):
        raise RegardError(
            f"the loss became {total}: training has diverged; lower training.learning_rate, or set training.clip"
        )
    if not math.isfinite(gradient_norm) and not scaled:
        raise RegardError(
            f"the gradient's norm became {gradient_norm}: training has diverged; "
            "lower training.learning_rate, or set training.clip"
        )
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return Updated(total / num_tokens, gradient_norm, num_tokens)
