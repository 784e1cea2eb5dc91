"""The loss: the negative log-probability of the right words, smoothed or not."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.batches import Batch
from regard.models import Seq2Seq


def sequence_loss(logits: Tensor, targets: Tensor, smoothing: float = 0.0) -> Tensor:
    """Σ −log p(y_t ∣ y_<t, x) over real tokens.

    Args:
        logits: (N, Vy), real tokens only.
        targets: (N,).
        smoothing: the share ε of probability spread over the whole vocabulary.
    """
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))  # half precision would lose the sum
    return functional.cross_entropy(wide, targets, reduction="sum", label_smoothing=smoothing)


class Objective(nn.Module):
    """A model with its loss as one module of plain tensors, which is what Fabric can wrap.

    Args:
        model: what learns.
        smoothing: label smoothing.
    """

    def __init__(self, model: Seq2Seq, smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing

    def forward(
        self,
        source_ids: Tensor,
        source_mask: Tensor,
        previous_ids: Tensor,
        target_ids: Tensor,
        target_mask: Tensor,
    ) -> Tensor:
        """The loss of a batch, taken apart; a sum over its real tokens."""
        batch = Batch(source_ids, source_mask, previous_ids, target_ids, target_mask)
        return sequence_loss(self.model(batch).logits, target_ids[target_mask], self.smoothing)
