"""The LSTMN: `naive` states the equations; `persistent` runs them as two launches of kernels on a GPU."""

from regard.ops.lstmn.naive import OUTPUTS, lstmn_sequence, lstmn_step

__all__ = ["OUTPUTS", "lstmn_sequence", "lstmn_step"]
