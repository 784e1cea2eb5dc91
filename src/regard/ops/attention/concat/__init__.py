"""Concat energies: `naive` as printed; `fused` splits W_a so that the keys are computed once a sentence."""

from regard.ops.attention.concat.fused import concat_keys, concat_query

__all__ = ["concat_keys", "concat_query"]
