"""The loss of every task: the negative log-probability of what is right, a word, a tag or a label, smoothed or not.

Words are many, so theirs is made without their logits, by `ops/word_loss`; tags and labels are few, and have logits.
"""

import torch
from torch import Tensor
from torch.nn import functional

from regard.layers import Output
from regard.ops.word_loss import word_loss


def words_loss(readout: Tensor, output: Output, targets: Tensor, smoothing: float = 0.0) -> Tensor:
    """Σ −log p(y_n) over N words: `sequence_loss` of what the output layer would say.

    Args:
        readout: (N, l), what the layer reads; no padding among them.
        output: the layer.
        targets: (N,), the right words.
        smoothing: the share ε of probability spread over all V.
    """
    return word_loss(readout, targets, output.W_o, output.b_o, smoothing)


def sequence_loss(logits: Tensor, targets: Tensor, smoothing: float = 0.0) -> Tensor:
    """Σ −log p(y_n) over N predictions, whatever each was made from.

    Args:
        logits: (N, V) over a vocabulary or over labels; no padding among them.
        targets: (N,), the right ones.
        smoothing: the share ε of probability spread over all V.
    """
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))  # half precision would lose the sum
    return functional.cross_entropy(wide, targets, reduction="sum", label_smoothing=smoothing)
