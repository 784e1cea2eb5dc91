"""Which backend computes each op of a model: one training pass over two made-up rows, listened to by `ops.explain`.

Knows how to call every network of `models`, and nothing of tasks. Weights, mode and random numbers stay as they were.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn

from regard.batches.pad import (
    CaptionBatch,
    PairBatch,
    TextBatch,
    WordBatch,
)
from regard.models.captioner import CaptionerNetwork
from regard.models.classifier import ClassifierNetwork
from regard.models.language_model import LanguageModelNetwork
from regard.models.seq2seq import Seq2Seq
from regard.models.tagger import TaggerNetwork
from regard.ops import Choice, explain

_ROWS, _WORDS = 2, 4


def explain_model(model: nn.Module) -> list[Choice]:
    """Which backend computes each op while a model trains, each once, in order; none for one without recurrences."""
    call = _training_pass(model)
    if call is None:
        return []
    training = model.training
    model.train()
    try:
        with explain() as choices, torch.random.fork_rng(), torch.enable_grad():
            call()
    finally:
        model.train(training)
    return [choice for k, choice in enumerate(choices) if choice not in choices[:k]]


def _training_pass(model: nn.Module) -> Callable[[], Any] | None:
    """A call of the network with two rows of words that every vocabulary has; None for one that has no recurrence."""
    device = next(model.parameters()).device
    ids = torch.ones(_ROWS, _WORDS, dtype=torch.long, device=device)
    mask = torch.ones(_ROWS, _WORDS, dtype=torch.bool, device=device)
    match model:
        case Seq2Seq():
            return partial(model, PairBatch(ids, mask, ids, ids, mask))
        case LanguageModelNetwork():
            return partial(model, ids, mask)
        case ClassifierNetwork():
            texts = model.config.num_texts
            return partial(model, TextBatch((ids,) * texts, (mask,) * texts))
        case TaggerNetwork():
            return partial(model, WordBatch(ids, mask, mask))
        case CaptionerNetwork():
            features = model.standardize.mean.new_zeros(_ROWS, len(model.standardize.mean))
            return partial(model, CaptionBatch(features, ids, ids, mask))
    return None
