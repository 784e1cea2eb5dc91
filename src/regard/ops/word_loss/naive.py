"""The cross-entropy of the target words, from the inputs of the output matrix: −log of Eq. 4's softmax."""

import torch
from torch import Tensor

from regard.ops.shapes import Float, Int


def word_loss(
    readout: Float[Tensor, "N l"],
    targets: Int[Tensor, "N"],
    W_o: Float[Tensor, "Vy l"],
    b_o: Float[Tensor, "Vy"],
    smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """Σ_n −log p(y_n), smoothed or not, in float32 at least.

    Args:
        readout: t, a row for each word to predict; no padding among them.
        targets: y, the target words.
        W_o: the output matrix.
        b_o: its bias.
        smoothing: the share ε of probability that is spread over all Vy words.
    """
    # p(y_n) ∝ exp(y_nᵀ (W_o t_n + b_o)), A.2.2
    logits = torch.nn.functional.linear(readout, W_o, b_o)  # (N, Vy)
    wide = torch.promote_types(logits.dtype, torch.float32)  # half precision would lose the sum
    log_probs = torch.log_softmax(logits, dim=-1, dtype=wide)  # (N, Vy)
    right = log_probs.gather(1, targets.unsqueeze(1))  # (N, 1)
    return -(1 - smoothing) * right.sum() - smoothing * log_probs.mean(dim=-1).sum()
