"""All that a model ever receives: padded ids with masks, as frozen values."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class SourceBatch:
    """Sources to translate.

    Attributes:
        source_ids: (B, Tx), each row ended by the end mark, then padding.
        source_mask: (B, Tx), True where a real token stands.
    """

    source_ids: Tensor
    source_mask: Tensor

    def to(self, device: torch.device | str) -> "SourceBatch":
        """The same batch on another device."""
        return SourceBatch(self.source_ids.to(device), self.source_mask.to(device))


@dataclass(frozen=True)
class Batch(SourceBatch):
    """Pairs to learn from or to score.

    Attributes:
        previous_ids: y_0 … y_{Ty−1}, (B, Ty): the begin mark, then the target without its end mark.
        target_ids: y_1 … y_Ty, (B, Ty), each row ended by the end mark.
        target_mask: (B, Ty), True where a token is to be predicted.
        gold: (B, Ty, Tx), 1 where a target token is linked to a source token and 0 elsewhere; None where no gold
            links are known.
    """

    previous_ids: Tensor
    target_ids: Tensor
    target_mask: Tensor
    gold: Tensor | None = None

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All of it in the order of the fields, `gold` where there is any."""
        words = (self.source_ids, self.source_mask, self.previous_ids, self.target_ids, self.target_mask)
        return words if self.gold is None else (*words, self.gold)

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on another device."""
        return Batch(*(tensor.to(device) for tensor in self.tensors))
