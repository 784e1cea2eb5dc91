"""The loss: the negative log-probability of the right words, smoothed or not."""

import torch
from torch import Tensor
from torch.nn import functional


def sequence_loss(logits: Tensor, targets: Tensor, smoothing: float = 0.0) -> Tensor:
    """Σ −log p(y_t ∣ y_<t, x) over real tokens.

    Args:
        logits: (N, Vy), real tokens only.
        targets: (N,).
        smoothing: the share ε of probability spread over the whole vocabulary.
    """
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))  # half precision would lose the sum
    return functional.cross_entropy(wide, targets, reduction="sum", label_smoothing=smoothing)
