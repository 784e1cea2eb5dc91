"""Luong's recurrence with input feeding, by one of four paths.

`naive` states it; `fused` derives the backward pass by hand; `native` runs that in C on a CPU, and `persistent` as two
launches of kernels on a GPU, where `ops/native/choose` and `ops/kernels/choose` say they apply.
"""

from torch import Tensor

from regard.ops.backends import Question, choose
from regard.ops.input_feeding import fused, naive, native, persistent
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState

__all__ = ["input_feeding_lstm"]


def input_feeding_lstm(
    projected: Float[Tensor, "B Ty gn"],
    initial: PlainState,
    fed: Float[Tensor, "B l"],
    keys: Float[Tensor, "B Tx a"],
    annotations: Float[Tensor, "B Tx d"],
    mask: Bool[Tensor, "B Tx"],
    W_a: Float[Tensor, "a n"] | None,
    v_a: Float[Tensor, "a"] | None,
    F: Float[Tensor, "4*n l"],
    U: Float[Tensor, "4*n n"],
    W_c: Float[Tensor, "l d+n"],
    dropped: Float[Tensor, "B Ty l"] | None,
) -> tuple[Float[Tensor, "B Ty l"], Float[Tensor, "B Ty Tx"]]:
    """All steps of the decoder's recurrence, by the fastest path that applies; see `naive`."""
    given = (projected, initial, fed, keys, annotations, mask, W_a, v_a, F, U, W_c, dropped)
    tensors, widths = (keys, projected, *initial, fed, annotations), (keys.shape[2], U.shape[1], fed.shape[1])
    paths = {
        "Triton": persistent.input_feeding_lstm,
        "C": native.input_feeding_lstm,
        "torch": fused.input_feeding_lstm,
        "naive": naive.input_feeding_lstm,
    }
    chosen = choose(Question("input feeding", U, tensors, keys.shape[1], widths))
    return paths[chosen](*given)
