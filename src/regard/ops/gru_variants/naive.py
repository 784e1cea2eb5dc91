"""The mutations of the GRU that Jozefowicz, Zaremba & Sutskever 2015 (§3.3) found by search, one step each.

They found three. MUT2 is `ops/gru` with W_r = I: its reset gate sees x_t itself. An update gate of 1 takes the new
candidate, as in `ops/gru`. Chung et al. 2014 and Chrupała et al. 2015 have the GRU of Cho et al. 2014.
"""

import torch
from torch import Tensor

from regard.ops.shapes import Float
from regard.ops.unroll import PlainState


def mut1_step(
    projected: Float[Tensor, "B gn"],
    previous_state: PlainState,
    U: Float[Tensor, "2*n n"],
    b_U: Float[Tensor, "n"],
    state_mask: Float[Tensor, "B n"] | None = None,
) -> PlainState:
    """One step of MUT1, whose update gate does not see the state.

    Args:
        projected: W x_t + b, stacked: update, reset, candidate. The candidate's block takes the place of the paper's
            x_t, which would have to be n wide.
        previous_state: (h_{t−1},).
        U: the recurrent matrices, stacked: reset, candidate.
        b_U: the candidate's bias, outside the inner tanh.
        state_mask: variational dropout of h_{t−1} where it meets U; one mask for all steps.

    Returns:
        (h_t,).
    """
    (h,) = previous_state
    n = h.shape[-1]
    recurrent = h if state_mask is None else h * state_mask
    x_z, x_r, x = projected.chunk(3, dim=-1)  # (B, n) each
    # z_t = σ(W_z x_t + b_z)
    update = torch.sigmoid(x_z)  # (B, n)
    # r_t = σ(W_r x_t + U_r h_{t−1} + b_r)
    reset = torch.sigmoid(x_r + recurrent @ U[:n].T)  # (B, n)
    # h̃_t = tanh(U_h (r_t ∘ h_{t−1}) + tanh(x_t) + b_U)
    candidate = torch.tanh((reset * recurrent) @ U[n:].T + torch.tanh(x) + b_U)  # (B, n)
    # h_t = (1 − z_t) ∘ h_{t−1} + z_t ∘ h̃_t
    return (h + update * (candidate - h),)  # (B, n)


def mut3_step(
    projected: Float[Tensor, "B gn"],
    previous_state: PlainState,
    U: Float[Tensor, "3*n n"],
    state_mask: Float[Tensor, "B n"] | None = None,
) -> PlainState:
    """One step of MUT3, whose update gate sees tanh(h_{t−1}).

    Args:
        projected: W x_t + b, stacked: update, reset, candidate.
        previous_state: (h_{t−1},).
        U: the recurrent matrices, in the same order.
        state_mask: variational dropout of h_{t−1} where it meets U; one mask for all steps.

    Returns:
        (h_t,).
    """
    (h,) = previous_state
    recurrent, squashed = (x if state_mask is None else x * state_mask for x in (h, torch.tanh(h)))
    x_z, x_r, x_h = projected.chunk(3, dim=-1)  # (B, n) each
    U_z, U_r, U_h = U.chunk(3)  # (n, n) each
    # z_t = σ(W_z x_t + U_z tanh(h_{t−1}) + b_z)
    update = torch.sigmoid(x_z + squashed @ U_z.T)  # (B, n)
    # r_t = σ(W_r x_t + U_r h_{t−1} + b_r)
    reset = torch.sigmoid(x_r + recurrent @ U_r.T)  # (B, n)
    # h̃_t = tanh(W_h x_t + U_h (r_t ∘ h_{t−1}) + b_h)
    candidate = torch.tanh(x_h + (reset * recurrent) @ U_h.T)  # (B, n)
    # h_t = (1 − z_t) ∘ h_{t−1} + z_t ∘ h̃_t
    return (h + update * (candidate - h),)  # (B, n)
