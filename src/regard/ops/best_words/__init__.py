"""The k most probable words of each row, by one of three paths.

`naive` sorts; `fused` allocates nothing as large as the logits; `native` does the same in C on a CPU, for small k.
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
    """Log p of the k most probable words of each row, and their columns, by the fastest path; see `naive`."""
    if 0 < k <= native.MOST and native_applies(logits):
        return native.best_words(logits, k, banned)
    if fused_wanted():
        return fused.best_words(logits, k, banned)
    return naive.best_words(logits, k, banned)
