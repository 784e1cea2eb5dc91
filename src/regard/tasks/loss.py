"""The loss of every task: the negative log-probability of the correct word, tag or label, with label smoothing.

A vocabulary is large, so the loss of words is computed without storing their logits, by `ops/word_loss`; tags and
labels are few.
"""

import torch
from torch import Tensor
from torch.nn import functional

from regard.layers import Output
from regard.ops.word_loss import word_loss


def words_loss(readout: Tensor, output: Output, targets: Tensor, smoothing: float = 0.0) -> Tensor:
    """Σ −log p(y_n) over N words: `sequence_loss` of the output layer's logits.

    Args:
        readout: (N, l), the input of the layer, without padding.
        output: the layer.
        targets: (N,), the correct words.
        smoothing: ε, the probability mass spread over all V.
    """
    return word_loss(readout, targets, output.W_o, output.b_o, smoothing)


def sequence_loss(logits: Tensor, targets: Tensor, smoothing: float = 0.0) -> Tensor:
    """Σ −log p(y_n) over N predictions.

    Args:
        logits: (N, V) over a vocabulary or over labels, without padding.
        targets: (N,), the correct ones.
        smoothing: ε, the probability mass spread over all V.
    """
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))  # half precision would lose the sum
    return functional.cross_entropy(wide, targets, reduction="sum", label_smoothing=smoothing)
