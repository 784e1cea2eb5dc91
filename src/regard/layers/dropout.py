"""Dropout over time: a new mask at each word, or one mask for the whole sentence (variational).

Masks are sampled before a loop over time starts, so that a step is a pure function of its arguments. They multiply:
0 where a unit is dropped, 1/(1 − p) where it is kept. None means that nothing is dropped.
"""

import torch
from torch import Tensor, nn


class Dropout(nn.Module):
    """Dropout for activations (B, T, d): a new mask per word (Srivastava et al. 2014), or one per sentence.

    Args:
        p: the probability that a unit is dropped in training.
        variational: one mask for all words of a sentence (Gal & Ghahramani 2016).
    """

    def __init__(self, p: float, variational: bool = False) -> None:
        super().__init__()
        self.p = p
        self.variational = variational

    def sample_mask(self, batch: int, num_steps: int, size: int, like: Tensor) -> Tensor | None:
        """A mask (B, T, d), or None if nothing is dropped."""
        if not self.training or self.p == 0:
            return None
        steps = 1 if self.variational else num_steps
        keep = torch.empty(batch, steps, size, dtype=like.dtype, device=like.device)
        keep.bernoulli_(1 - self.p).div_(1 - self.p)
        return keep.expand(batch, num_steps, size)

    def forward(self, x: Tensor) -> Tensor:
        """Drop units of x (B, T, d) in training; return x itself in evaluation."""
        batch, num_steps, size = x.shape
        mask = self.sample_mask(batch, num_steps, size, x)
        return x if mask is None else x * mask

    def extra_repr(self) -> str:
        """For `print(model)`."""
        return f"p={self.p}, variational={self.variational}"
