"""The describer's loss: the right words."""

from torch import Tensor, nn

from regard.batches import FeatureBatch
from regard.models import Describer
from regard.models.positions import at_positions, real_positions
from regard.training.loss import words_loss


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
        real = real_positions(target_mask)  # (N,)
        read = self.model.readouts(FeatureBatch(features, previous_ids, target_ids, target_mask), real)
        targets = at_positions(target_ids, real)  # (N,)
        return words_loss(read.readout, self.model.decoder.output, targets, self.smoothing)
