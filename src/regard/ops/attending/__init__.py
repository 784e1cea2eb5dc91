"""RNNsearch's recurrence over any cell: `naive` states it, `persistent` runs an LSTM's on a GPU."""

from regard.ops.attending.naive import attending

__all__ = ["attending"]
