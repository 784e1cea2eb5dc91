"""LSTMs that differ from today's in their equations; `naive` states them, and no other path has them."""

from regard.ops.lstm_variants.naive import lstm_1997_step, lstm_without_step, peephole_lstm_step

__all__ = ["lstm_1997_step", "lstm_without_step", "peephole_lstm_step"]
