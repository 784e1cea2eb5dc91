"""The cross-entropy of the target words, by one of three paths.

`naive` states it; `fused` computes the logits in chunks, with hand-derived gradients; `native` does the same in C on a
CPU, where `ops/native/choose` says it applies.
"""

import torch
from torch import Tensor

from regard.ops.backends import NO_KERNEL, Question, choose, without
from regard.ops.shapes import Float, Int
from regard.ops.word_loss import fused, naive, native

__all__ = ["word_loss"]


def word_loss(
    readout: Float[Tensor, "N l"],
    targets: Int[Tensor, "N"],
    W_o: Float[Tensor, "Vy l"],
    b_o: Float[Tensor, "Vy"],
    smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """Σ_n −log p(y_n) from the inputs of the output matrix, by the fastest path that applies; see `naive`."""
    lacks = without(NO_KERNEL, "Triton")
    if _in_float16(readout.device.type):
        lacks |= without("in float16 its gradients would underflow", "torch")
    paths = {"C": native.word_loss, "torch": fused.word_loss, "naive": naive.word_loss}
    path = paths[choose(Question("word loss", W_o, (readout, b_o), lacks=lacks))]
    return path(readout, targets, W_o, b_o, smoothing)


def _in_float16(device: str) -> bool:
    """Whether products are in float16, whose gradients vanish unless the loss was scaled before they are made."""
    return torch.is_autocast_enabled(device) and torch.get_autocast_dtype(device) == torch.float16
