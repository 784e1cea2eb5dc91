"""RNNsearch's recurrence over any cell: `naive` states it."""

from regard.ops.attending.naive import attending

__all__ = ["attending"]
