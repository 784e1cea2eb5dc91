"""Maxout of pairs (Goodfellow et al. 2013), as RNNsearch's readout uses it (Bahdanau et al. 2015, A.2.2)."""

from torch import Tensor

from regard.ops.shapes import Float


def maxout(readout_pairs: Float[Tensor, "*rows pairs"]) -> Float[Tensor, "*rows pairs//2"]:
    """t_i = [max(t̃_{i,2j−1}, t̃_{i,2j})] for j = 1 … l: the larger of each two neighbours."""
    *rows, width = readout_pairs.shape
    return readout_pairs.reshape(*rows, width // 2, 2).amax(dim=-1)  # (*rows, l)
