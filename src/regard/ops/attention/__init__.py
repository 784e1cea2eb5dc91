"""Attention as pure functions: energies of queries and keys, then alpha, then the context."""

from regard.ops.attention.additive import additive_energies
from regard.ops.attention.bilinear import bilinear_energies, bilinear_keys
from regard.ops.attention.concat import concat_energies, concat_keys
from regard.ops.attention.dot import dot_energies, scaled_dot_energies
from regard.ops.attention.masked_softmax import attend, masked_softmax

__all__ = [
    "additive_energies",
    "attend",
    "bilinear_energies",
    "bilinear_keys",
    "concat_energies",
    "concat_keys",
    "dot_energies",
    "masked_softmax",
    "scaled_dot_energies",
]
