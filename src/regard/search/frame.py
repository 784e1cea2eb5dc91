"""One step of a search that stays on its device: the decoder's step, the choice, and the state of what was chosen.

The beams of all sentences are tensors of one shape, B × K, in a `Frame`: a sentence that has ended, a finished
hypothesis and a place of the beam that nothing fills have a total of −∞ and choose nothing. A step reads and writes a
frame and never asks the host, so that it can be captured as a CUDA graph (`graphs`); `on_device` makes steps until all
sentences have ended. `choose` is the choice as the papers have it; `ops/best_words` finds the words it chooses among.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.models.state import StepOutput, Stepper
from regard.ops.best_words import Allowed, best_allowed
from regard.search.hypotheses import LEAST_COVERED, NEVER
from regard.text.specials import EOS

STEPS = 32
"""Steps whose choices a frame holds before they are laid aside."""


class Rules(NamedTuple):
    """What all steps of a search have in common.

    Attributes:
        k: the words of each row that are considered.
        n_best: how many hypotheses are wanted.
        coverage: the weight of the coverage penalty; 0 for none.
        banned: the columns that are never chosen, (n,).
        end: the column of EOS.
        words: the id of each column, (V,); None where it is the column.
        only_end: whether there is nothing but EOS to choose, so that no output can have a minimum length.
    """

    k: int
    n_best: int
    coverage: float
    banned: Tensor
    end: int
    words: Tensor | None
    only_end: bool


@dataclass
class Frame:
    """The tensors of a search: what a step reads, and where it writes; B sentences, K places in the beam of each.

    Attributes:
        encoded: the source.
        state: the decoder's, R = B·K rows.
        previous_ids: y_{i−1}, (R,).
        totals: log p of each partial hypothesis, (B, K), float64; −∞ where there is none.
        scores: of the finished hypotheses, best first, (B, K), float64; −∞ where there is none.
        covered: Σ α of each row, (R, Tx), for the coverage penalty; None without one.
        limits: the most tokens of each sentence, (B, 1).
        minimum: the fewest, EOS not counted, (B, 1).
        largest_divisors: of log p, at the limit, (B,), float64.
        divisors: of log p, at each step of the frame, (STEPS,), float64.
        counters: the number of the step, and its place in the frame, (2, 1).
        chosen: for each step token, parent, log p of the token, and the score of what has ended, (STEPS, 4, B, K).
        alphas: of each step, (STEPS, R, Tx); None without attention.
    """

    encoded: Any
    state: Any
    previous_ids: Tensor
    totals: Tensor
    scores: Tensor
    covered: Tensor | None
    limits: Tensor
    minimum: Tensor
    largest_divisors: Tensor
    divisors: Tensor
    counters: Tensor
    chosen: Tensor
    alphas: Tensor | None

    @property
    def shape(self) -> tuple[int, int]:
        """B and K."""
        batch, beam = self.totals.shape
        return batch, beam

    def select(self, sentences: Tensor) -> "Frame":
        """The frame of some sentences, in that order; what was chosen is not kept."""
        beam = self.totals.shape[1]
        rows = (sentences.unsqueeze(1) * beam + torch.arange(beam, device=sentences.device)).flatten()
        of_sentences = ("totals", "scores", "limits", "minimum", "largest_divisors")
        return replace(
            self,
            encoded=self.encoded.select(sentences),
            state=self.state.select(rows),
            previous_ids=self.previous_ids[rows],
            covered=None if self.covered is None else self.covered[rows],
            counters=self.counters.clone(),
            divisors=self.divisors.clone(),
            chosen=self.chosen.new_zeros(STEPS, 4, len(sentences), beam),
            alphas=None
            if self.alphas is None
            else self.alphas.new_zeros(STEPS, len(rows), self.alphas.shape[2]),
            **{name: getattr(self, name)[sentences] for name in of_sentences},
        )


class Choice(NamedTuple):
    """What a step chose, (B, K) each.

    Attributes:
        tokens: the ids.
        parents: the places of the beam they continue.
        log_probs: log p of each token, float64.
        ended: the score of a hypothesis that chose EOS; −∞ for others.
        totals: log p of what goes on; −∞ where nothing does.
        scores: of all finished hypotheses, best first.
    """

    tokens: Tensor
    parents: Tensor
    log_probs: Tensor
    ended: Tensor
    totals: Tensor
    scores: Tensor


def choose(
    totals: Tensor,
    scores: Tensor,
    log_probs: Tensor,
    words: Tensor,
    divisor: Tensor,
    largest_divisors: Tensor,
    n_best: int,
    penalties: Tensor | None = None,
) -> Choice:
    """The K best candidates of each sentence; of equal ones that of the first row, and of its first rank.

    Args:
        totals: (B, K), as in `Frame`.
        scores: (B, K), as in `Frame`.
        log_probs: of each row's best words, (R, k), best first.
        words: their ids, (R, k).
        divisor: of log p at this step, (1,).
        largest_divisors: (B,), as in `Frame`.
        n_best: how many hypotheses are wanted.
        penalties: what the coverage penalty adds to the score of each row, (B, K); None for nothing.
    """
    (batch, beam), k = totals.shape, log_probs.shape[1]
    candidates = (totals.reshape(-1, 1) + log_probs).view(batch, beam * k)  # (B, K·k)
    # stable, and what is not a number comes last
    best, places = (-candidates).sort(dim=1, stable=True)
    best, places = -best[:, :beam], places[:, :beam]
    # partial and finished hypotheses together are K
    free = beam - (scores > NEVER).sum(dim=1, keepdim=True)
    possible = (best > NEVER) & (torch.arange(beam, device=best.device) < free)
    tokens = words.reshape(batch, -1).gather(1, places)
    values = log_probs.reshape(batch, -1).gather(1, places).double()
    parents = places // k
    ended = possible & (tokens == EOS)
    score = best / divisor
    if penalties is not None:
        score = score + penalties.gather(1, parents)
    score = torch.where(ended, score, NEVER)
    scores = torch.cat([scores, score], dim=1).sort(dim=1, descending=True).values[:, :beam]
    best = torch.where(possible & ~ended, best, NEVER)
    # no continuation scores higher than its present log p under the penalty of the longest output
    needed = scores[:, n_best - 1] * largest_divisors  # (B,)
    goes_on = best.amax(dim=1) > needed
    return Choice(tokens, parents, values, score, torch.where(goes_on.unsqueeze(1), best, NEVER), scores)


def advance(decoder: Stepper, frame: Frame, rules: Rules) -> None:
    """One step: the decoder's, and what `settle` does."""
    settle(decoder.step(frame.previous_ids, frame.state, frame.encoded), frame, rules)


def settle(output: StepOutput, frame: Frame, rules: Rules) -> None:
    """Choose after a step of the decoder, and keep the state of the rows that were chosen.

    Every tensor of the frame but those of `encoded` is written in place, except the state, which is replaced: that of
    some cells grows. `graphs` writes it back.
    """
    batch, beam = frame.shape
    step, place = frame.counters  # (1,) each
    may_end = (frame.minimum <= step).expand(batch, beam).reshape(-1)
    must_end = (frame.limits <= step + 1).expand(batch, beam).reshape(-1)
    allowed = Allowed(rules.banned, rules.end, may_end, must_end)
    log_probs, words = best_allowed(output.logits, rules.k, allowed)
    if rules.words is not None:
        words = rules.words[words]
    penalties = None
    if frame.covered is not None:
        assert output.alpha is not None, "a decoder that attends gives alpha at each step"
        frame.covered.add_(output.alpha)
        mask = frame.encoded.mask.repeat_interleave(beam, dim=0)
        missing = frame.covered.clamp(LEAST_COVERED, 1.0).log().masked_fill(~mask, 0.0)
        penalties = rules.coverage * missing.sum(dim=1).view(batch, beam).double()
    choice = choose(
        frame.totals,
        frame.scores,
        log_probs,
        words,
        frame.divisors.index_select(0, place),
        frame.largest_divisors,
        rules.n_best,
        penalties,
    )
    firsts = torch.arange(0, batch * beam, beam, device=choice.parents.device).unsqueeze(1)
    rows = (choice.parents + firsts).flatten()  # (R,)
    frame.state = output.state.select(rows) if beam > 1 else output.state
    frame.previous_ids.copy_(choice.tokens.flatten())
    frame.totals.copy_(choice.totals)
    frame.scores.copy_(choice.scores)
    if frame.covered is not None:
        frame.covered.copy_(frame.covered.index_select(0, rows))
    chosen = torch.stack([choice.tokens.double(), choice.parents.double(), choice.log_probs, choice.ended])
    frame.chosen.index_copy_(0, place, chosen.unsqueeze(0))
    if frame.alphas is not None and output.alpha is not None:
        frame.alphas.index_copy_(0, place, output.alpha.unsqueeze(0))
    frame.counters.add_(1)
