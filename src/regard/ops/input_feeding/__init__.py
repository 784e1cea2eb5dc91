"""Luong's recurrence with input feeding: `naive` states it, `ops/attending/persistent` runs the LSTM's on a GPU."""

from regard.ops.input_feeding.naive import input_feeding

__all__ = ["input_feeding"]
