"""Scheduled sampling (Bengio et al. 2015): while it learns, the decoder reads some of its own words.

In: a batch and the share of words to replace. Out: the same batch with other words to read; what is to be
predicted stays. The words are sampled one by one, each from the model's distribution after all it has read so far,
right words and own ones. No gradient passes through the choice, as in the paper, so the loss over the mixed words is
then an ordinary one, and every decoder learns it by its quickest path.

The translator's loss: the right words, and beside them what attention is taught.
"""

import math
from dataclasses import replace

import torch
from torch import Tensor, nn

from regard.batches import PairBatch
from regard.models import Seq2Seq
from regard.models.state import at_positions, real_positions
from regard.ops.attention import coverage_penalty, guided_alignment
from regard.tasks.loss import words_loss
from regard.text.specials import BOS, PAD

_STEEPNESS = 12.0  # the sigmoid is within 0.3 % of its ends at the run's first and last update


def share_of_own(most: float, schedule: str, progress: float) -> float:
    """The share of its own words a decoder reads at a point of the run.

    Args:
        most: the share at the end.
        schedule: ``linear``, or ``sigmoid``, the paper's inverse sigmoid decay turned round.
        progress: how much of the run is over, 0 to 1.
    """
    if schedule == "sigmoid":
        return most / (1 + math.exp(-_STEEPNESS * (progress - 0.5)))
    return most * progress


@torch.no_grad()
def mixed(model: Seq2Seq, batch: PairBatch, share: float, chance: torch.Generator) -> PairBatch:
    """A batch whose words to read are the model's own at about `share` of the positions.

    Args:
        model: read without dropout; it is left in the mode it was in.
        batch: pairs; the begin mark is never replaced.
        share: of positions, 0 to 1.
        chance: on the batch's device.
    """
    was_training = model.training
    model.eval()
    encoded = model.encode(batch.source_ids, batch.source_mask)
    state = model.decoder.initial_state(encoded)
    own = torch.rand(batch.previous_ids.shape, generator=chance, device=batch.previous_ids.device) < share
    read = [batch.previous_ids[:, 0]]
    for t in range(1, batch.previous_ids.shape[1]):
        output = model.decoder.step(read[-1], state, encoded)
        state = output.state
        read.append(torch.where(own[:, t], _drawn(output.logits, chance), batch.previous_ids[:, t]))
    model.train(was_training)
    return replace(batch, previous_ids=torch.stack(read, dim=1))


def _drawn(logits: Tensor, chance: torch.Generator) -> Tensor:
    """One word for each row from its distribution; padding and the begin mark are never drawn."""
    legal = logits.float()
    legal[:, [PAD, BOS]] = float("-inf")
    return torch.multinomial(legal.softmax(dim=-1), 1, generator=chance).squeeze(1)


class TranslationObjective(nn.Module):
    """A model with its loss, for Fabric to wrap.

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

    def forward(self, batch: PairBatch) -> Tensor:
        """The loss of a batch, a sum over its real tokens."""
        real = real_positions(batch.target_mask)  # (N,)
        read = self.model.readouts(batch, real)
        targets = at_positions(batch.target_ids, real)  # (N,)
        loss = words_loss(read.readout, self.model.decoder.output, targets, self.smoothing)
        if self.guided_alignment and batch.gold is not None:
            assert read.alpha is not None, "only attention can be guided"
            loss = loss + self.guided_alignment * guided_alignment(read.alpha, batch.gold).sum()
        if self.coverage:
            assert read.alpha is not None, "only attention covers"
            loss = loss + self.coverage * at_positions(coverage_penalty(read.alpha), real).sum()
        return loss
