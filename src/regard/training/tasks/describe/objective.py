"""The describer's loss: the right words."""

from torch import Tensor, nn

from regard.batches import FeatureBatch
from regard.models import Describer
from regard.training.loss import sequence_loss


class DescriptionObjective(nn.Module):
    """A model with its loss as one module of plain tensors, which is what Fabric can wrap.

    Args:
        model: what learns.
        smoothing: label smoothing.
    """

    def __init__(self, model: Describer, smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing

    def forward(
        self, features: Tensor, previous_ids: Tensor, target_ids: Tensor, target_mask: Tensor
    ) -> Tensor:
        """The loss of a batch, taken apart; a sum over its real tokens."""
        forced = self.model(FeatureBatch(features, previous_ids, target_ids, target_mask))
        return sequence_loss(forced.logits, target_ids[target_mask], self.smoothing)
