"""The LSTM: `naive` states the equations."""

from regard.ops.lstm.naive import lstm_sequence, lstm_step

__all__ = ["lstm_sequence", "lstm_step"]
