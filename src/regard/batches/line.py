"""Lines for a language model, each by itself: the begin mark is read first, the end mark is predicted last."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.batches.pad import pad
from regard.text.specials import BOS, EOS


@dataclass(frozen=True)
class LineBatch:
    """Words to predict, each from those before it.

    Attributes:
        previous_ids: y_0 … y_{T−1}, (B, T), what is read.
        target_ids: y_1 … y_T, (B, T), what is to be predicted.
        mask: (B, T), True where a token is to be predicted.
    """

    previous_ids: Tensor
    target_ids: Tensor
    mask: Tensor

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All of it in the order of the fields."""
        return self.previous_ids, self.target_ids, self.mask

    def to(self, device: torch.device | str) -> "LineBatch":
        """The same batch on another device."""
        return LineBatch(*(tensor.to(device) for tensor in self.tensors))


def pad_lines(lines: Sequence[Sequence[int]]) -> LineBatch:
    """Lines without specials → a batch to learn from or to score."""
    previous_ids, mask = pad([[BOS, *ids] for ids in lines])
    target_ids, _ = pad([[*ids, EOS] for ids in lines])
    return LineBatch(previous_ids, target_ids, mask)
