"""The paper's GRU: `naive` states the equations; `persistent` runs them as two launches of kernels on a GPU."""

from regard.ops.gru.naive import gru_sequence, gru_step

__all__ = ["gru_sequence", "gru_step"]
