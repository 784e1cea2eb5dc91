"""Rows of logits → their loss, with its gradient in their place: the part between the products with W_o."""

import torch
from torch import Tensor

from regard.ops.shapes import Float, Int


def softmax_loss_(
    logits: Float[Tensor, "R Vy"], targets: Int[Tensor, "R"], smoothing: float
) -> Float[Tensor, ""]:
    """Σ −log p(y) of rows of logits o, which become ∂/∂o = softmax(o) − (1 − ε) 1[v = y] − ε/Vy.

    log Σ_v exp o_v is max o − log(max p): the largest probability is at least 1/Vy, so its logarithm is accurate,
    however small that of the target word is.

    Args:
        logits: contiguous, in float32 or float64; overwritten.
        targets: the target words.
        smoothing: ε.
    """
    right = targets.unsqueeze(1)
    said = logits.gather(1, right)  # (R, 1)
    top = logits.amax(dim=1, keepdim=True)  # (R, 1)
    # Σ_v q_v o_v, with q the smoothed target
    wanted = said.lerp(logits.mean(dim=1, keepdim=True), smoothing) if smoothing else said  # (R, 1)
    torch.softmax(logits, dim=1, out=logits)
    log_sum = top - logits.amax(dim=1, keepdim=True).log()  # (R, 1)
    everywhere = smoothing / logits.shape[1]
    if smoothing:
        logits.sub_(everywhere)
    logits.scatter_(1, right, (said - log_sum).exp() - everywhere - (1 - smoothing))
    return (log_sum - wanted).sum()
