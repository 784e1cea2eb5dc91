"""RNNsearch's recurrence: `naive` states it; `fused` derives the backward pass by hand."""

from torch import Tensor

from regard.ops.attending_gru import fused, naive
from regard.ops.paths import fused_wanted
from regard.ops.shapes import Bool, Float

__all__ = ["attending_gru"]


def attending_gru(
    projected: Float[Tensor, "B Ty gn"],
    initial: Float[Tensor, "B n"],
    keys: Float[Tensor, "B Tx a"],
    annotations: Float[Tensor, "B Tx d"],
    mask: Bool[Tensor, "B Tx"],
    W_a: Float[Tensor, "a n"],
    v_a: Float[Tensor, "a"],
    U: Float[Tensor, "3*n n"],
    C: Float[Tensor, "3*n d"],
) -> tuple[Float[Tensor, "B Ty n"], Float[Tensor, "B Ty d"], Float[Tensor, "B Ty Tx"]]:
    """All steps of the decoder's recurrence, by the quicker path; see `naive`."""
    if fused_wanted():
        return fused.attending_gru(projected, initial, keys, annotations, mask, W_a, v_a, U, C)
    return naive.attending_gru(projected, initial, keys, annotations, mask, W_a, v_a, U, C)
