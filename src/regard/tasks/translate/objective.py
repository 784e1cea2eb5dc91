"""The objective of a translator: the loss of the target's tokens, auxiliary losses of attention, scheduled sampling.

In: a `PairBatch`. Out: the loss, a sum over its real tokens. Scheduled sampling (Bengio et al. 2015) replaces some of
the previous tokens of a batch by tokens sampled from the model, one by one, each given all tokens before it, sampled
or not; the targets stay. No gradient passes through the choice, as in the paper, so the loss over the mixed tokens is
an ordinary one and takes the fast path of every decoder.
"""

import math
from dataclasses import replace

import torch
from torch import Tensor, nn

from regard.batches import PairBatch, select_positions, token_positions
from regard.models import Seq2Seq
from regard.models.seq2seq import Readouts
from regard.ops.attention import coverage_penalty, guided_alignment, link_rest_to_end
from regard.ops.consistency import consistency
from regard.tasks.base import in_evaluation_mode, sequence_loss
from regard.text.specials import BOS, PAD

_STEEPNESS = 12.0  # the sigmoid is within 0.3 % of its ends at the run's first and last update


def sampled_share(final: float, schedule: str, progress: float) -> float:
    """The share of previous tokens that are sampled at a point of the run.

    Args:
        final: the share at the end.
        schedule: ``linear``, or ``sigmoid``: 1 minus the paper's inverse sigmoid decay.
        progress: the fraction of the run that is over, 0 to 1.
    """
    if schedule == "sigmoid":
        return final / (1 + math.exp(-_STEEPNESS * (progress - 0.5)))
    return final * progress


@torch.no_grad()
def mix_in_samples(model: Seq2Seq, batch: PairBatch, share: float, generator: torch.Generator) -> PairBatch:
    """A batch whose previous tokens are sampled from the model at about `share` of the positions.

    Args:
        model: used without dropout; its mode is restored.
        batch: pairs; BOS is never replaced.
        share: of positions, 0 to 1.
        generator: on the batch's device.
    """
    with in_evaluation_mode(model):
        encoded = model.encode(batch.source_ids, batch.source_mask)
        state = model.decoder.initial_state(encoded)
        device = batch.previous_ids.device
        sampled = torch.rand(batch.previous_ids.shape, generator=generator, device=device) < share
        previous = [batch.previous_ids[:, 0]]
        for t in range(1, batch.previous_ids.shape[1]):
            output = model.decoder.step(previous[-1], state, encoded)
            state = output.state
            tokens = _sample(output.logits, generator)
            previous.append(torch.where(sampled[:, t], tokens, batch.previous_ids[:, t]))
    return replace(batch, previous_ids=torch.stack(previous, dim=1))


def _sample(logits: Tensor, generator: torch.Generator) -> Tensor:
    """A token for each row from its distribution, (B,); never padding or BOS."""
    allowed = logits.float()
    allowed[:, [PAD, BOS]] = float("-inf")
    return torch.multinomial(allowed.softmax(dim=-1), 1, generator=generator).squeeze(1)


class TranslationObjective(nn.Module):
    """A model with its loss, for Fabric to wrap.

    Args:
        model: in training.
        smoothing: label smoothing.
        guided_alignment: the weight of −Σ G log α, with gold links G; 0 for none. Of the alignment attention, where the
            model has one: there, words without a link are linked to EOS.
        coverage: the weight of Σ min(α, coverage), against attending to a word twice; 0 for none.
        consistency: the weight of R-Drop's divergence between two predictions; 0 for none. The second half of a batch
            is then its first half once more, with other dropout.
    """

    def __init__(
        self,
        model: Seq2Seq,
        smoothing: float,
        *,
        guided_alignment: float = 0.0,
        coverage: float = 0.0,
        consistency: float = 0.0,
    ) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing
        self.guided_alignment = guided_alignment
        self.coverage = coverage
        self.consistency = consistency

    def forward(self, batch: PairBatch) -> Tensor:
        """The loss of a batch, a sum over its real tokens."""
        real = token_positions(batch.target_mask)  # (N,)
        decoded = self.model.readouts(batch, real)
        targets = select_positions(batch.target_ids, real)  # (N,)
        loss = self._loss_of_words(decoded, targets)
        if self.guided_alignment and batch.gold is not None:
            if decoded.alignment is not None:
                links = link_rest_to_end(batch.gold, batch.source_mask)
                costs = select_positions(guided_alignment(decoded.alignment, links), real)
            else:
                assert decoded.alpha is not None, "only attention can be guided"
                costs = guided_alignment(decoded.alpha, batch.gold)
            loss = loss + self.guided_alignment * costs.sum()
        if self.coverage:
            assert decoded.alpha is not None, "only attention covers"
            loss = loss + self.coverage * select_positions(coverage_penalty(decoded.alpha), real).sum()
        return loss

    def _loss_of_words(self, decoded: Readouts, targets: Tensor) -> Tensor:
        """Σ −log p(y_n) over the N real tokens and, with two predictions of each, how far these differ."""
        output = self.model.decoder.output
        predictions = decoded.log_probs
        if predictions is None:
            assert decoded.readout is not None, "a decoder gives readouts or log-probabilities"
            if not self.consistency:
                return output.loss(decoded.readout, targets, self.smoothing)
            predictions = output(decoded.readout)  # (N, Vy)
        loss = sequence_loss(predictions, targets, self.smoothing)
        if self.consistency:
            loss = loss + self.consistency * consistency(*predictions.chunk(2))
        return loss
