"""The tape: what a recurrence that attends to its own past has written down, and how it reads it back.

A tape is batch first and grows by one slot a step: keys (B, t, p) to be compared with, values (B, t, n) to be
read, and a mask (B, t) that is False at the slots of padded positions. `scoring` says how a query is compared
with the keys, `naive` reads a tape visible to autograd, `persistent` runs recurrences with one on a GPU.
"""

from regard.ops.tape.naive import cut, extend, kept, read_tape
from regard.ops.tape.scoring import AdditiveScoring, DotScoring, Scoring

__all__ = [
    "AdditiveScoring",
    "DotScoring",
    "Scoring",
    "cut",
    "extend",
    "kept",
    "read_tape",
]
