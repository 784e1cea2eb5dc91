"""The loss of an aligner: what its attention of both directions should be."""

import torch
from torch import Tensor, nn

from regard.batches import WordPairBatch
from regard.models import AlignerNetwork
from regard.ops.attention import coverage_penalty, disagreement, guided_two_way
from regard.tasks.align.config import AlignerLossConfig


class AlignmentObjective(nn.Module):
    """The network with its losses, batch → their weighted sum over all words of both sides.

    Args:
        model: trained, but for its hidden Markov models.
        losses: their weights.
    """

    def __init__(self, model: AlignerNetwork, losses: AlignerLossConfig) -> None:
        super().__init__()
        self.model, self.losses = model, losses

    def forward(self, batch: WordPairBatch) -> Tensor:
        """The loss of a batch, a sum."""
        read = self.model.attend(batch)
        logs = read.log_alphas
        losses = self.losses
        loss = logs.forward.new_zeros(())
        if losses.guided:
            links = expected_links(self.model, batch)
            loss = loss + losses.guided * guided_two_way(logs, links, batch.target_mask, batch.source_mask)
        if losses.translation:
            loss = loss + losses.translation * self.model.translation_loss(batch, read)
        if losses.agreement or losses.coverage:
            cells = batch.cells
            forward, backward = (alpha * cells for alpha in logs.alphas)
            loss = loss + losses.agreement * disagreement(forward, backward)
            if losses.coverage:
                loss = loss + losses.coverage * (coverage_penalty(forward) * batch.target_mask).sum()
        return loss


@torch.no_grad()
def expected_links(model: AlignerNetwork, batch: WordPairBatch) -> Tensor:
    """G = √(α→ α←) of the hidden Markov models, (B, I, J): the links that both expect."""
    alphas = model.hmm_alphas(batch)
    return (alphas.forward * alphas.backward).sqrt() * batch.cells
