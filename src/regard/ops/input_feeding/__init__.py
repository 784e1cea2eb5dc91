"""Luong's recurrence with input feeding: `naive` states it."""

from regard.ops.input_feeding.naive import input_feeding

__all__ = ["input_feeding"]
