"""The classifier's loss: the right label."""

from torch import Tensor, nn

from regard.batches import LabelledBatch, TextBatch
from regard.models import Classifier
from regard.training.loss import sequence_loss


class ClassificationObjective(nn.Module):
    """A model with its loss as one module of plain tensors, which is what Fabric can wrap.

    Args:
        model: what learns.
        smoothing: label smoothing.
    """

    def __init__(self, model: Classifier, smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing

    def forward(self, label_ids: Tensor, *texts: Tensor) -> Tensor:
        """The loss of a batch as `taken_apart` gives it; a sum over its rows."""
        batch = TextBatch(texts[::2], texts[1::2])
        return sequence_loss(self.model(batch).logits, label_ids, self.smoothing)


def taken_apart(batch: LabelledBatch) -> tuple[Tensor, ...]:
    """A batch as plain tensors: the labels, then each text's ids and mask."""
    pairs = zip(batch.ids, batch.masks, strict=True)
    return batch.label_ids, *(tensor for pair in pairs for tensor in pair)
