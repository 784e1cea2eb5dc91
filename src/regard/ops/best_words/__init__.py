"""The likeliest words of each row, by one of three paths.

`naive` states it; `fused` makes nothing as large as the logits; `native` does so in C on a CPU, for a beam's few words.
"""

from torch import Tensor

from regard.ops.best_words import fused, naive, native
from regard.ops.native import native_applies
from regard.ops.paths import fused_wanted
from regard.ops.shapes import Float, Int

__all__ = ["best_words"]


def best_words(
    logits: Float[Tensor, "R V"], k: int, banned: Int[Tensor, "n"] | None = None
) -> tuple[Float[Tensor, "R k"], Int[Tensor, "R k"]]:
    """Log p of the k likeliest words of each row and their columns, by the quicker path that applies; see `naive`."""
    if 0 < k <= native.MOST and native_applies(logits):
        return native.best_words(logits, k, banned)
    if fused_wanted():
        return fused.best_words(logits, k, banned)
    return naive.best_words(logits, k, banned)
