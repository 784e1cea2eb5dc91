"""The GRU as torch computes it: `naive` states the equations."""

from regard.ops.torch_gru.naive import torch_gru_sequence, torch_gru_step

__all__ = ["torch_gru_sequence", "torch_gru_step"]
