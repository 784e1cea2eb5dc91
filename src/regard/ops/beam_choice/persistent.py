"""The choice of a beam's step on a GPU, in two launches: blocks of the vocabulary of each row, then all of a sentence.

The second takes the best words of the sentence's rows from their blocks, as `ops/best_words/persistent` does, and then
its K best candidates one after another, in the order of `naive`. It writes where a search keeps its beams, so that
nothing is copied.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from regard.ops.best_words import persistent as best_words
from regard.ops.best_words.persistent import power_of_two
from regard.ops.paths import fused_wanted
from regard.ops.shapes import Float, Int


class Beams(NamedTuple):
    """Where a search keeps its beams; all are contiguous, and those up to `chosen` are written.

    Attributes:
        totals: log p of each partial hypothesis, (B, K), float64; −∞ where there is none.
        scores: of the finished hypotheses, (B, K), float64; −∞ behind them.
        previous_ids: the words chosen, (R,).
        chosen: for each step token, parent, log p of the token, and the score of what ended, (steps, 4, B, K), float64.
        counters: the number of the step, and its place in `chosen`, (2, 1).
        limits: the most tokens of each sentence, (B, 1).
        minimum: the fewest, EOS not counted, (B, 1).
        divisors: of log p, for each step that `chosen` holds, (steps,), float64.
        largest_divisors: that of each sentence's longest output, (B,), float64.
    """

    totals: Float[Tensor, "B K"]
    scores: Float[Tensor, "B K"]
    previous_ids: Int[Tensor, "R"]
    chosen: Float[Tensor, "steps 4 B K"]
    counters: Int[Tensor, "2 1"]
    limits: Int[Tensor, "B 1"]
    minimum: Int[Tensor, "B 1"]
    divisors: Float[Tensor, "steps"]
    largest_divisors: Float[Tensor, "B"]


def applies(logits: Tensor, k: int) -> bool:
    """Return whether `choose_` can replace `naive` and the words of `ops/best_words`."""
    return fused_wanted() and best_words.applies(logits, k)


def choose_(
    logits: Float[Tensor, "R V"],
    beams: Beams,
    k: int,
    n_best: int,
    banned: Int[Tensor, "n"],
    end: int,
    words: Int[Tensor, "V"] | None = None,
    penalties: Float[Tensor, "B K"] | None = None,
) -> Int[Tensor, "R"]:
    """Choose, and write the beams; return the row that each row continues.

    Args:
        logits: of each place of the beams, sentence after sentence.
        beams: of the search.
        k: the words of each row that are considered; of a beam wider than the vocabulary, fewer than K.
        n_best: how many hypotheses are wanted.
        banned: columns that are never chosen.
        end: the column of EOS.
        words: the id of each column; None where it is the column.
        penalties: what the coverage penalty adds to the score of each row, float64; None for nothing.
    """
    from regard.ops.beam_choice import kernels

    logits = logits.contiguous()
    (batch, beam), size = beams.totals.shape, logits.shape[1]
    blocks = best_words.best_of_blocks(logits, k, banned, end, beams.minimum, beams.counters[0])
    rows = torch.empty_like(beams.previous_ids)
    kernels.choose_of_sentence[(batch,)](
        logits, *blocks, *beams, rows, words, penalties, size, end, blocks.sums.shape[1], batch,
        BEAM=beam, K=k, N_BEST=n_best, PLACES=power_of_two(beam), RANKS=power_of_two(k),
        HAS_WORDS=words is not None, HAS_PENALTIES=penalties is not None, **blocks.tiles, num_warps=1,
    )  # fmt: skip
    return rows
