"""How far a guess gets in recall.

In: how many pairs of a key and a value a line has. Out: how often the best guess without keys is right, in percent,
by exact counting.

How much of a sequence of symbols gets through a model: right symbols, and bits.

In: a translator and lines, or the probabilities it gave to the right symbols. Out: numbers. Of bits: a model
that knows nothing gives each of S symbols 1/S, and nothing gets through; one that is sure and right lets all
T·log₂ S through. One that is sure and wrong comes out below nothing: who believed it would be worse off than who
guessed.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from math import comb

import torch
from torch import Tensor

from regard.batches import pad_pairs
from regard.datasets import Example
from regard.datasets.recall import VALUES
from regard.evaluation import edit_distance
from regard.tasks.translate.predictor import Translator
from regard.text import EncodedPair


def guess(pairs: int, values: int = len(VALUES)) -> float:
    """How often, in percent, the commonest value of a line is right: 100 · E[max count] / pairs.

    Who has kept all values of a line, but not which key each belonged to, can do no better at the first question.

    Args:
        pairs: in the line, at least one; each of them is as likely to be asked for.
        values: how many there are, each as likely in every pair.
    """
    lines = values**pairs
    # E[max] = Σ_{m ≥ 0} P(max > m)
    expected = sum(Fraction(lines - _with_at_most(m, pairs, values), lines) for m in range(pairs))
    return float(100 * expected / pairs)


def _with_at_most(most: int, pairs: int, values: int) -> int:
    """How many of all lines have no value more often than so: value after value takes its places among those left."""
    lines = [1] + [0] * pairs  # by how many places are taken
    for _ in range(values):
        lines = [
            sum(lines[taken - k] * comb(pairs - taken + k, k) for k in range(min(most, taken) + 1))
            for taken in range(pairs + 1)
        ]
    return lines[pairs]


def bits_through(log_probs: Tensor, symbols: int) -> Tensor:
    """T·log₂ S less the cross-entropy in bits: Σ_t (log₂ S + log₂ p_t).

    Args:
        log_probs: natural logarithms of the right symbols' probabilities, (B, T).
        symbols: S, how many equally likely symbols there are.

    Returns:
        Bits for each row, (B,).
    """
    return (log_probs.double() / math.log(2) + math.log2(symbols)).sum(dim=1)  # (B,)


_AT_ONCE = 100
"""Lines that a model reads side by side: as many of the longest as memory has room for."""


def forced_to(translator: Translator, lines: Sequence[Example]) -> tuple[Tensor, Tensor]:
    """What a model says of the right targets, all of one length T, each symbol after the right ones before it.

    Returns:
        Whether its likeliest symbol is the right one, and the right one's log probability, both (B, T), without
        the end mark.
    """
    parts = [_forced_at_once(translator, lines[k : k + _AT_ONCE]) for k in range(0, len(lines), _AT_ONCE)]
    right, log_probs = zip(*parts, strict=True)
    return torch.cat(right), torch.cat(log_probs)


@torch.inference_mode()
def _forced_at_once(translator: Translator, lines: Sequence[Example]) -> tuple[Tensor, Tensor]:
    sources = translator.source_tokenizer.encode_batch([line.source for line in lines])
    targets = translator.target_tokenizer.encode_batch([line.target for line in lines])
    batch = pad_pairs([EncodedPair(*pair) for pair in zip(sources, targets, strict=True)])
    logits = translator.model(batch).logits.view(*batch.target_ids.shape, -1)  # (B, T + 1, V)
    log_probs = logits.log_softmax(dim=-1).gather(2, batch.target_ids.unsqueeze(2)).squeeze(2)  # (B, T + 1)
    return (logits.argmax(dim=-1) == batch.target_ids)[:, :-1], log_probs[:, :-1]


def freely(translator: Translator, lines: Sequence[Example]) -> tuple[float, float]:
    """Percent of lines copied without a fault when the model goes on from its own symbols, and of symbols wrong."""
    said = [each.text for each in translator.translate([line.source for line in lines], beam=1)]
    exact = sum(text == line.target for text, line in zip(said, lines, strict=True))
    faults = sum(
        edit_distance(text.split(), line.target.split()) for text, line in zip(said, lines, strict=True)
    )
    return 100 * exact / len(lines), 100 * faults / sum(len(line.target.split()) for line in lines)
