"""Where a language model that attends to its own past looks while it reads given lines.

In: lines, each read by itself. Out: a `Reading` for each, with the attention of every layer.
"""

from collections.abc import Iterable

import numpy as np
import torch

from regard.batches import pad_lines
from regard.models import LanguageModel
from regard.output import Reading
from regard.search import log_probs_of
from regard.text import EncodedLine, Tokenizer, encode_lines
from regard.text.specials import BOS


def read_lines(model: LanguageModel, tokenizer: Tokenizer, lines: Iterable[str]) -> list[Reading]:
    """Read lines.

    Args:
        model: in evaluation mode, of cells that attend to their past.
        tokenizer: its own.
        lines: what to read.
    """
    return [_reading(model, tokenizer, line) for line in encode_lines(lines, tokenizer)]


@torch.inference_mode()
def _reading(model: LanguageModel, tokenizer: Tokenizer, line: EncodedLine) -> Reading:
    batch = pad_lines([line.ids]).to(model.embedding.E.device)
    logits, _, alphas = model.read(batch.previous_ids, batch.mask)
    log_probs = log_probs_of(logits, batch.target_ids[batch.mask])
    ids = [BOS, *line.ids]
    return Reading(
        text=line.text,
        tokens=tuple(tokenizer.tokens(ids)),
        words=tuple(tokenizer.words(ids)),
        alpha=tuple(np.asarray(alpha[0].float().cpu()) for alpha in alphas),
        token_log_probs=(None, *log_probs[:-1].tolist()),
    )
