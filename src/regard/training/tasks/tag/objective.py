"""The tagger's loss: the right tag at every word."""

from torch import Tensor, nn

from regard.batches import WordBatch
from regard.models import Tagger
from regard.training.loss import sequence_loss


class TaggingObjective(nn.Module):
    """A model with its loss as one module of plain tensors, which is what Fabric can wrap.

    Args:
        model: what learns.
        smoothing: label smoothing.
    """

    def __init__(self, model: Tagger, smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing

    def forward(self, ids: Tensor, mask: Tensor, word_mask: Tensor, tag_ids: Tensor) -> Tensor:
        """The loss of a batch, taken apart; a sum over its words."""
        logits = self.model(WordBatch(ids, mask, word_mask))
        return sequence_loss(logits, tag_ids[word_mask], self.smoothing)
