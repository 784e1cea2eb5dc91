"""A language model's loss, and the state it ends in, for the window after it."""

from torch import Tensor, nn

from regard.models import LanguageModel, States
from regard.models.positions import at_positions, real_positions
from regard.training.loss import words_loss


class LmObjective(nn.Module):
    """A model with its loss as one module of plain tensors, which is what Fabric can wrap.

    Args:
        model: what learns.
        smoothing: label smoothing.
    """

    def __init__(self, model: LanguageModel, smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing

    def forward(
        self, previous_ids: Tensor, target_ids: Tensor, mask: Tensor, state: States | None = None
    ) -> tuple[Tensor, States]:
        """The loss of a batch, a sum over its real tokens, and the state after it.

        Args:
            previous_ids: (B, T), what is read.
            target_ids: (B, T), what is to be predicted.
            mask: (B, T), True where a token is to be predicted.
            state: where the window before ended, no gradient through it; None for a zero state.
        """
        real = real_positions(mask)  # (N,)
        readout, last = self.model.readouts(previous_ids, mask, real, state)
        targets = at_positions(target_ids, real)  # (N,)
        return words_loss(readout, self.model.output, targets, self.smoothing), last
