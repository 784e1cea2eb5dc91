"""Hard monotonic attention: `naive` has a matrix of transitions for each step; `fused` has cumulative sums instead.

On a GPU `persistent` computes all steps in one launch.
"""

from torch import Tensor

from regard.ops.attention.hard_monotonic import fused, naive, persistent
from regard.ops.attention.hard_monotonic.naive import NEVER, observe, start
from regard.ops.paths import fused_wanted
from regard.ops.shapes import Bool, Float

__all__ = ["NEVER", "hard_monotonic", "observe", "predict", "start"]


def predict(
    log_filtered: Float[Tensor, "B Tx"], energies: Float[Tensor, "B Tx"], mask: Bool[Tensor, "B Tx"]
) -> Float[Tensor, "B Tx"]:
    """Log φ_{i−1} → log π_i, for one step of search (Wu & Cotterell 2019), by the faster path."""
    if fused_wanted():
        return fused.predict(log_filtered, energies, mask)
    return naive.predict(log_filtered, energies, mask)


def hard_monotonic(
    energies: Float[Tensor, "B Ty Tx"], emissions: Float[Tensor, "B Ty Tx"], mask: Bool[Tensor, "B Tx"]
) -> Float[Tensor, "B Ty Tx"]:
    """Log π_i of every step, by the forward algorithm (Wu & Cotterell 2019), by the faster path."""
    if fused_wanted():
        if persistent.applies(energies):
            return persistent.hard_monotonic(energies, emissions, mask)
        return fused.hard_monotonic(energies, emissions, mask)
    return naive.hard_monotonic(energies, emissions, mask)
