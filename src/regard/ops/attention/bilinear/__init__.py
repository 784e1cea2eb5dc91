"""Bilinear ("general") energies: `naive` as printed; `fused` computes the keys once a sentence."""

from regard.ops.attention.bilinear.fused import bilinear_keys

__all__ = ["bilinear_keys"]
