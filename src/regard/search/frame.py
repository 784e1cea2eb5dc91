"""One step of a search that stays on its device: the decoder's step, the choice, and the state of what was chosen.

The beams of all sentences are tensors of one shape, B × K, in a `Frame`: a sentence that has ended, a finished
hypothesis and a place of the beam that nothing fills have a total of −∞ and choose nothing. A step reads and writes a
frame and never asks the host, so that it can be captured as a CUDA graph (`graphs`); `on_device` makes steps until all
sentences have ended. The choice itself is `ops/beam_choice`, among the words that `ops/best_words` finds.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.models.state import StepOutput, Stepper
from regard.ops.beam_choice import choose, persistent
from regard.ops.best_words import Allowed, best_allowed
from regard.search.hypotheses import LEAST_COVERED
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
        scores: of the finished hypotheses, (B, K), float64; −∞ behind them.
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


def advance(decoder: Stepper, frame: Frame, rules: Rules) -> None:
    """One step: the decoder's, and what `settle` does."""
    settle(decoder.step(frame.previous_ids, frame.state, frame.encoded), frame, rules)


def settle(output: StepOutput, frame: Frame, rules: Rules) -> None:
    """Choose after a step of the decoder, and keep the state of the rows that were chosen.

    Every tensor of the frame but those of `encoded` is written in place, except the state, which is replaced: that of
    some cells grows. `graphs` writes it back.
    """
    penalties = None
    if frame.covered is not None:
        assert output.alpha is not None, "a decoder that attends gives alpha at each step"
        frame.covered.add_(output.alpha)
        mask = frame.encoded.mask.repeat_interleave(frame.shape[1], dim=0)
        missing = frame.covered.clamp(LEAST_COVERED, 1.0).log().masked_fill(~mask, 0.0)
        penalties = rules.coverage * missing.sum(dim=1).view(frame.shape).double()
    in_kernels = persistent.applies(output.logits, rules.k)
    rows = (_choose_in_kernels if in_kernels else _choose)(output.logits, frame, rules, penalties)
    frame.state = output.state.select(rows) if frame.shape[1] > 1 else output.state
    if frame.covered is not None:
        frame.covered.copy_(frame.covered.index_select(0, rows))
    if frame.alphas is not None and output.alpha is not None:
        frame.alphas.index_copy_(0, frame.counters[1], output.alpha.unsqueeze(0))
    frame.counters.add_(1)


def _choose_in_kernels(logits: Tensor, frame: Frame, rules: Rules, penalties: Tensor | None) -> Tensor:
    """As `_choose`."""
    beams = persistent.Beams(**{name: getattr(frame, name) for name in persistent.Beams._fields})
    return persistent.choose_(
        logits, beams, rules.k, rules.n_best, rules.banned, rules.end, rules.words, penalties
    )


def _choose(logits: Tensor, frame: Frame, rules: Rules, penalties: Tensor | None) -> Tensor:
    """Write what was chosen into the frame; return the row that each row continues, (R,)."""
    batch, beam = frame.shape
    step, place = frame.counters  # (1,) each
    may_end = (frame.minimum <= step).expand(batch, beam).reshape(-1)
    must_end = (frame.limits <= step + 1).expand(batch, beam).reshape(-1)
    allowed = Allowed(rules.banned, rules.end, may_end, must_end)
    log_probs, words = best_allowed(logits, rules.k, allowed)
    if rules.words is not None:
        words = rules.words[words]
    choice = choose(
        frame.totals,
        frame.scores,
        log_probs,
        words,
        frame.divisors.index_select(0, place),
        frame.largest_divisors,
        rules.n_best,
        EOS,
        penalties,
    )
    frame.previous_ids.copy_(choice.tokens.flatten())
    frame.totals.copy_(choice.totals)
    frame.scores.copy_(choice.scores)
    chosen = torch.stack([choice.tokens.double(), choice.parents.double(), choice.log_probs, choice.ended])
    frame.chosen.index_copy_(0, place, chosen.unsqueeze(0))
    firsts = torch.arange(0, batch * beam, beam, device=logits.device).unsqueeze(1)
    return (choice.parents + firsts).flatten()
