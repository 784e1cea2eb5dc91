"""Beam search: the K best beginnings at each step, many sentences at a time.

In: a decoder and an encoded source. Out: for each sentence its n best `Hypothesis`es, each with its own
attention. The beam of a sentence narrows as its hypotheses finish (K alive and finished together), so that a
beam of 1 is greedy search and a beam as wide as the space is exhaustive. A sentence leaves the batch when its
beam is used up, or when no living hypothesis can still reach its n best. The hypotheses of a sentence share
one copy of the source.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from regard.configuration import in_range
from regard.models.state import EncodedSource
from regard.search.greedy import Stepper
from regard.search.hypothesis import Hypothesis
from regard.search.length_penalty import length_normalised
from regard.search.limits import LengthLimit, begin, only_legal
from regard.text.specials import EOS

_NEVER = float("-inf")


@dataclass
class _History:
    """What each step decided, enough to trace a finished hypothesis back to its first word.

    The lists run over steps; row r of a step describes one slot after that step, and its parent is a row of
    the step before.
    """

    parents: list[Tensor] = field(default_factory=list)
    tokens: list[Tensor] = field(default_factory=list)
    log_probs: list[Tensor] = field(default_factory=list)
    alphas: list[Tensor] = field(default_factory=list)

    def add(self, parents: Tensor, tokens: Tensor, log_probs: Tensor, alpha: Tensor | None) -> None:
        """Record one step."""
        self.parents.append(parents.cpu())
        self.tokens.append(tokens.cpu())
        self.log_probs.append(log_probs.cpu())
        if alpha is not None:
            self.alphas.append(alpha.cpu())

    def trace(self, row: int, source_length: int, length_power: float) -> Hypothesis:
        """The hypothesis that ends in `row` of the newest step."""
        ids: list[int] = []
        log_probs: list[float] = []
        alphas: list[Tensor] = []
        for t in reversed(range(len(self.tokens))):
            ids.append(int(self.tokens[t][row]))
            log_probs.append(float(self.log_probs[t][row]))
            if self.alphas:
                alphas.append(self.alphas[t][row, :source_length])
            row = int(self.parents[t][row])
        total = sum(reversed(log_probs))
        return Hypothesis(
            tuple(reversed(ids)),
            total,
            float(length_normalised(total, len(ids), length_power)),
            tuple(reversed(log_probs)),
            torch.stack(alphas[::-1]).float().numpy() if alphas else None,
        )


class _Found:
    """The finished hypotheses of each sentence, and when a sentence is done."""

    def __init__(
        self, encoded: EncodedSource, limit: LengthLimit, width: int, n_best: int, length_power: float
    ) -> None:
        self.limits = limit.of(encoded.mask)
        self.history = _History()
        self.hypotheses: list[list[Hypothesis]] = [[] for _ in range(encoded.mask.shape[0])]
        self._source_lengths: list[int] = encoded.mask.sum(dim=1).tolist()
        self._width, self._n_best, self._length_power = width, n_best, length_power

    def close(self, scores: Tensor, tokens: Tensor, sentences: Tensor) -> Tensor:
        """Take out of the beam what chose the end mark, and narrow it by what finished before.

        Args:
            scores: (B, K) log-probabilities, best first.
            tokens: (B, K), what each slot chose.
            sentences: (B,), which sentence each row is.

        Returns:
            `scores` with −∞ where a slot holds no living hypothesis any more.
        """
        used = torch.tensor([len(self.hypotheses[b]) for b in sentences.tolist()], device=scores.device)
        rank = torch.arange(scores.shape[1], device=scores.device)
        scores = scores.masked_fill(rank >= self._width - used.unsqueeze(1), _NEVER)
        ended = (tokens == EOS) & (scores > _NEVER)
        for k, slot in ended.nonzero().tolist():
            b = int(sentences[k])
            row = k * scores.shape[1] + slot
            hypothesis = self.history.trace(row, self._source_lengths[b], self._length_power)
            self.hypotheses[b].append(hypothesis)
        return scores.masked_fill(ended, _NEVER)

    def still_searching(self, scores: Tensor, sentences: Tensor) -> Tensor:
        """The rows of sentences that a living hypothesis may still change, (B′,).

        A hypothesis only loses log-probability as it grows, so none can end with a score above its present
        log-probability under the longest length's penalty.
        """
        best = scores.max(dim=1).values
        bounds = length_normalised(best, self.limits[sentences], self._length_power)
        alive = []
        for k, (b, bound) in enumerate(zip(sentences.tolist(), bounds.tolist(), strict=True)):
            reached = sorted((h.score for h in self.hypotheses[b]), reverse=True)
            settled = len(reached) >= self._n_best and reached[self._n_best - 1] >= bound
            if bound > _NEVER and not settled:
                alive.append(k)
        return torch.tensor(alive, dtype=torch.long, device=scores.device)


@torch.inference_mode()
def beam(
    decoder: Stepper,
    encoded: EncodedSource,
    *,
    width: int,
    n_best: int = 1,
    limit: LengthLimit | None = None,
    length_power: float = 1.0,
) -> list[list[Hypothesis]]:
    """Search with a beam.

    Args:
        decoder: the model's decoder, or anything that steps like one.
        encoded: the sources, B of them.
        width: K, how many hypotheses are kept for each sentence.
        n_best: how many to return, at most K; a sentence with fewer possible outputs gives fewer.
        limit: how long outputs may grow.
        length_power: p of the score log p / lengthᵖ.

    Returns:
        For each sentence, its best hypotheses, best first.
    """
    in_range("the beam's width", width, 1)
    in_range("n_best", n_best, 1, width)
    in_range("length_power", length_power, 0)
    batch, device = encoded.mask.shape[0], encoded.mask.device
    found = _Found(encoded, limit or LengthLimit(), width, n_best, length_power)
    sentences = torch.arange(batch, device=device)  # whose slots these are
    scores = torch.zeros(batch, 1, device=device)  # log-probabilities of the living; −∞ in empty slots
    origin = torch.arange(batch, device=device)  # each row's place in the last step's record
    state, previous = decoder.initial_state(encoded), begin(encoded.mask)
    for t in range(int(found.limits.max())):
        slots = scores.shape[1]
        output = decoder.step(previous, state, encoded)
        last = (found.limits[sentences] == t + 1).repeat_interleave(slots)
        legal = only_legal(output.logits.log_softmax(dim=-1), last)  # (B·slots, V)
        totals = (scores.view(-1, 1) + legal).view(len(sentences), -1)  # (B, slots·V)
        scores, choice = totals.topk(min(width, totals.shape[1]), dim=1)  # (B, K)
        first_row = torch.arange(len(sentences), device=device).unsqueeze(1) * slots
        parents = (first_row + choice // legal.shape[1]).flatten()  # (B·K,)
        previous = (choice % legal.shape[1]).flatten()
        alpha = None if output.alpha is None else output.alpha[parents]
        found.history.add(origin[parents], previous, legal[parents, previous], alpha)
        scores = found.close(scores, previous.view_as(scores), sentences)
        alive = found.still_searching(scores, sentences)
        if len(alive) == 0:
            break
        # the rows that go on: all slots of the sentences still searched
        slot = torch.arange(scores.shape[1], device=device)
        origin = (alive.unsqueeze(1) * scores.shape[1] + slot).flatten()
        previous, state = previous[origin], output.state.select(parents[origin])
        if len(alive) < len(sentences):
            sentences, scores, encoded = sentences[alive], scores[alive], encoded.select(alive)
    return [sorted(each, key=lambda h: -h.score)[:n_best] for each in found.hypotheses]
