"""The translator's loss: the right words, and beside them what attention is taught."""

from torch import Tensor, nn

from regard.batches import Batch
from regard.models import Seq2Seq
from regard.models.positions import at_positions, real_positions
from regard.ops.attention import coverage_penalty, guided_alignment
from regard.training.loss import words_loss


class TranslationObjective(nn.Module):
    """A model with its loss as one module of plain tensors, which is what Fabric can wrap.

    Args:
        model: what learns.
        smoothing: label smoothing.
        guided_alignment: the weight of gold links as a signal to alpha; 0 for none.
        coverage: the weight of looking again at what was looked at; 0 for none.
    """

    def __init__(
        self, model: Seq2Seq, smoothing: float, *, guided_alignment: float = 0.0, coverage: float = 0.0
    ) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing
        self.guided_alignment = guided_alignment
        self.coverage = coverage

    def forward(
        self,
        source_ids: Tensor,
        source_mask: Tensor,
        previous_ids: Tensor,
        target_ids: Tensor,
        target_mask: Tensor,
        gold: Tensor | None = None,
    ) -> Tensor:
        """The loss of a batch, taken apart; a sum over its real tokens."""
        real = real_positions(target_mask)  # (N,)
        batch = Batch(source_ids, source_mask, previous_ids, target_ids, target_mask)
        read = self.model.readouts(batch, real)
        targets = at_positions(target_ids, real)  # (N,)
        loss = words_loss(read.readout, self.model.decoder.output, targets, self.smoothing)
        if self.guided_alignment and gold is not None:
            assert read.alpha is not None, "only attention can be guided"
            loss = loss + self.guided_alignment * guided_alignment(read.alpha, gold).sum()
        if self.coverage:
            assert read.alpha is not None, "only attention covers"
            loss = loss + self.coverage * at_positions(coverage_penalty(read.alpha), real).sum()
        return loss
