"""The self-attentive RNN: `naive` states three forms; `persistent` runs them as two launches of kernels on a GPU."""

from regard.ops.self_attentive_rnn.naive import FORMS, read_step, self_attentive_rnn_sequence, sum_step

__all__ = ["FORMS", "read_step", "self_attentive_rnn_sequence", "sum_step"]
