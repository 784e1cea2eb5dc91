"""The plain RNN: `naive` states the equation."""

from regard.ops.rnn.naive import ACTIVATIONS, rnn_sequence, rnn_step

__all__ = ["ACTIVATIONS", "rnn_sequence", "rnn_step"]
