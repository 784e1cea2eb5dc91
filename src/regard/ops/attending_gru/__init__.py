"""The recurrence of RNNsearch's decoder: `naive` states it; `persistent` runs it as two launches on a GPU."""

from regard.ops.attending_gru.naive import attending_gru

__all__ = ["attending_gru"]
