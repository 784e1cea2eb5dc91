"""The loss of every task: the negative log-probability of what is right, a word, a tag or a label, smoothed or not."""

import torch
from torch import Tensor
from torch.nn import functional


def sequence_loss(logits: Tensor, targets: Tensor, smoothing: float = 0.0) -> Tensor:
    """Σ −log p(y_n) over N predictions, whatever each was made from.

    Args:
        logits: (N, V) over a vocabulary or over labels; no padding among them.
        targets: (N,), the right ones.
        smoothing: the share ε of probability spread over all V.
    """
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))  # half precision would lose the sum
    return functional.cross_entropy(wide, targets, reduction="sum", label_smoothing=smoothing)
