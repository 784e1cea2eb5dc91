"""The LSTMN: `naive` states the equations; `ops/tape/persistent` runs them on a GPU."""

from regard.ops.lstmn.naive import OUTPUTS, lstmn_sequence, lstmn_step

__all__ = ["OUTPUTS", "lstmn_sequence", "lstmn_step"]
