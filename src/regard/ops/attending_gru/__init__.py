"""The recurrence of RNNsearch's decoder, by one of four paths.

`naive` states it; `fused` derives the backward pass by hand; `native` runs that in C on a CPU, and `persistent` as two
launches of kernels on a GPU, where `ops/native/choose` and `ops/kernels/choose` say they apply.
"""

from torch import Tensor

from regard.ops.attending_gru import fused, naive, native, persistent
from regard.ops.backends import Question, choose
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
    """All steps of the decoder's recurrence, by the fastest path that applies; see `naive`."""
    given = (projected, initial, keys, annotations, mask, W_a, v_a, U, C)
    tensors, widths = (keys, projected, initial, annotations), (keys.shape[2], U.shape[1])
    paths = {
        "Triton": persistent.attending_gru,
        "C": native.attending_gru,
        "torch": fused.attending_gru,
        "naive": naive.attending_gru,
    }
    chosen = choose(Question("attending gru", U, tensors, keys.shape[1], widths))
    return paths[chosen](*given)
