"""The self-attentive RNN: `naive` states three forms; `ops/tape/persistent` runs them on a GPU."""

from regard.ops.self_attentive_rnn.naive import FORMS, read_step, self_attentive_rnn_sequence, sum_step

__all__ = ["FORMS", "read_step", "self_attentive_rnn_sequence", "sum_step"]
