"""A step's choice of a beam: the K best continuations of each sentence's partial hypotheses, and which of them ended.

Partial and finished hypotheses together are K. A sentence ends when no continuation of its partial hypotheses can still
be among its n best. Sums of log p and scores are float64, as on the host.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from regard.ops.shapes import Float, Int

NEVER = float("-inf")
"""Log p of what may not be chosen, and of an empty place of the beam."""


class Choice(NamedTuple):
    """What a step chose, (B, K) each.

    Attributes:
        tokens: the ids.
        parents: the places of the beam they continue.
        log_probs: log p of each token, float64.
        ended: the score of a hypothesis that chose EOS; −∞ for others.
        totals: log p of what goes on; −∞ where nothing does.
        scores: of all finished hypotheses.
    """

    tokens: Int[Tensor, "B K"]
    parents: Int[Tensor, "B K"]
    log_probs: Float[Tensor, "B K"]
    ended: Float[Tensor, "B K"]
    totals: Float[Tensor, "B K"]
    scores: Float[Tensor, "B K"]


def choose(
    totals: Float[Tensor, "B K"],
    scores: Float[Tensor, "B K"],
    log_probs: Float[Tensor, "R k"],
    words: Int[Tensor, "R k"],
    divisor: Float[Tensor, "1"],
    largest_divisors: Float[Tensor, "B"],
    n_best: int,
    end: int,
    penalties: Float[Tensor, "B K"] | None = None,
) -> Choice:
    """The K best candidates of each sentence; of equal ones that of the first row, and of its first rank.

    Args:
        totals: log p of each partial hypothesis, float64; −∞ where there is none.
        scores: of the finished hypotheses, float64; −∞ behind them.
        log_probs: of each row's best words, best first; rows are places of the beam, sentence after sentence.
        words: their ids.
        divisor: of log p at this step, for the score of what ends.
        largest_divisors: that of each sentence's longest output.
        n_best: how many hypotheses are wanted.
        end: the id of EOS.
        penalties: what the coverage penalty adds to the score of each row; None for nothing.
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
    ended = possible & (tokens == end)
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
