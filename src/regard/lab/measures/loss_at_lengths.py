"""Small models that differ in attention alone, asked for their loss at any two lengths, by either path.

In: which model, which path, sizes. Out: the model, and a function of l₁ and l₂. Nothing is padding, so that every
position is work.
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from regard.batches import Batch
from regard.models import LanguageModel, LanguageModelConfig, ModelConfig, Seq2Seq
from regard.ops.paths import naive_only
from regard.training.loss import sequence_loss

FIXED, ATTENTION, GRU, LSTMN = "fixed vector", "attention", "GRU", "LSTMN"
"""Two translators and two readers."""
NAIVE, FUSED = "naive", "fused"
VOCABULARY = 50


@dataclass(frozen=True)
class Arm:
    """A model that is measured on one path."""

    model: str
    path: str

    @property
    def name(self) -> str:
        """As in the numbers."""
        return f"{self.model}, {self.path}"


def work_of(arm: Arm, *, size: int, rows: int, seed: int) -> tuple[nn.Module, Callable[[int, int], Tensor]]:
    """A model, and what gives its loss on a random batch of two lengths; a reader minds the second alone.

    Args:
        arm: which, and by which path.
        size: units of embeddings, of encoder states each way, of the energies and of the readout.
        rows: pairs in a batch.
        seed: of the weights and the words.
    """
    model = _build(arm.model, size, seed)

    def loss(l1: int, l2: int) -> Tensor:
        batch = _batch(rows, l1, l2, seed)
        with naive_only() if arm.path == NAIVE else nullcontext():
            if isinstance(model, LanguageModel):
                logits = model(batch.previous_ids, batch.target_mask).logits
            else:
                logits = model(batch).logits
            return sequence_loss(logits, batch.target_ids.flatten())

    return model, loss


def _build(name: str, n: int, seed: int) -> Seq2Seq | LanguageModel:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if name in (GRU, LSTMN):
            reader = LanguageModelConfig(cell=name.lower(), embedding_size=n, state_size=n)
            return LanguageModel(reader, VOCABULARY)
        part = {"cell": "gru", "embedding_size": n}
        decoder: dict[str, Any] = {**part, "state_size": 2 * n, "readout_size": n}
        if name == ATTENTION:
            decoder |= {"kind": "bahdanau", "attention": {"energy": "additive", "size": n}}
        else:
            decoder |= {"kind": "cho"}
        mapping = {"encoder": {**part, "state_size": n}, "decoder": decoder}
        return Seq2Seq(ModelConfig.from_mapping(mapping, "model"), VOCABULARY, VOCABULARY)


def _batch(rows: int, l1: int, l2: int, seed: int) -> Batch:
    generator = torch.Generator().manual_seed(seed)
    source, previous, target = (
        torch.randint(VOCABULARY, (rows, length), generator=generator) for length in (l1, l2, l2)
    )
    return Batch(source, torch.ones(source.shape).bool(), previous, target, torch.ones(target.shape).bool())
