"""Vectors of features for a describer, and the words that describe them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from regard.batches.line import pad_lines


@dataclass(frozen=True)
class FeatureBatch:
    """Vectors and their descriptions, to learn from or to score.

    Attributes:
        features: (B, f).
        previous_ids: y_0 … y_{Ty−1}, (B, Ty): the begin mark, then the description without its end mark.
        target_ids: y_1 … y_Ty, (B, Ty), each row ended by the end mark.
        target_mask: (B, Ty), True where a token is to be predicted.
    """

    features: Tensor
    previous_ids: Tensor
    target_ids: Tensor
    target_mask: Tensor

    @property
    def source_mask(self) -> Tensor:
        """(B, 1), all True: to search, a vector is a source of one position."""
        return source_mask_of(self.features)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All of it in the order of the fields."""
        return self.features, self.previous_ids, self.target_ids, self.target_mask

    def to(self, device: torch.device | str) -> "FeatureBatch":
        """The same batch on another device."""
        return FeatureBatch(*(tensor.to(device) for tensor in self.tensors))


def source_mask_of(features: Tensor) -> Tensor:
    """The mask (B, 1) of vectors (B, f) seen as sources of one position."""
    return torch.ones(features.shape[0], 1, dtype=torch.bool, device=features.device)


def pad_described(
    features: Sequence[npt.NDArray[np.float32]], descriptions: Sequence[Sequence[int]]
) -> FeatureBatch:
    """Vectors and the ids of their descriptions, without specials → a batch."""
    lines = pad_lines(descriptions)
    return FeatureBatch(stack_features(features), lines.previous_ids, lines.target_ids, lines.mask)


def stack_features(features: Sequence[npt.NDArray[np.float32]]) -> Tensor:
    """Vectors (f,) each → a tensor (B, f)."""
    return torch.from_numpy(np.stack(features))
