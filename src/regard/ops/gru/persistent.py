"""The paper's GRU on a GPU: one launch for all steps forwards, one back, for one direction or for two at once.

The steps' kernels are in `kernels`; here are the buffers they fill, and the large products before and after them. Saved
for the backward pass: states, gates, candidates and r ∘ s. Widths are padded with zeros to multiples of the tiles: a
unit without weights stays at 0.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear

from regard.ops.kernels.arguments import steps_of
from regard.ops.kernels.padding import cut, fitted
from regard.ops.kernels.tiles import WIDTH, launch, programs_of, rows_of, units_of
from regard.ops.paths import first_derivative_only

Weights = tuple[Tensor, Tensor, Tensor]
"""W (3n, m), U (3n, n) and b (3n,) of one direction."""


class _Recurrence(torch.autograd.Function):
    """D directions at once: (W x + b (B, T, D·3n), mask (B, T)) → states (B, T, D·n), and the last ones (D, B, n).

    After them come `backwards`, which has a bit for each direction, set where it reads from the last word to the first;
    then each direction's s_0 (B, n); then each one's U (3n, n).
    """

    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, mask: Tensor, backwards: int, *given: Tensor
    ) -> tuple[Tensor, Tensor]:
        from regard.ops.gru import kernels

        D, (B, T, _), dtype = len(given) // 2, projected.shape, projected.dtype
        width = given[D].shape[1]
        n = width + -width % WIDTH
        U = torch.stack([fitted(part, 3, n, n, dtype) for part in given[D:]])
        exact = U.new_zeros(D, B, n, dtype=torch.float32)
        states = U.new_empty(D, T + 1, B, n)
        for d in range(D):
            exact[d, :, :width] = given[d]
            states[d, T if backwards >> d & 1 else 0] = exact[d]
        gates, gated = U.new_empty(D, T, B, 3 * n), U.new_empty(D, T, B, n)
        words = mask.contiguous().view(torch.int8)
        launch(
            kernels.forward_steps, U, 2, T, steps_of(projected.transpose(0, 1)), words, U, states, exact, gates, gated,
            T=T, B=B, n=n, width=width, BACKWARDS=backwards, DIRECTIONS=D, STAGES=4, **_tiles(U, B),
        )  # fmt: skip
        out = U.new_empty(B, T, D, width)
        for d in range(D):
            made = _after(states[d], backwards >> d & 1)[..., :width].transpose(0, 1)
            torch.mul(made, mask.unsqueeze(-1), out=out[:, :, d])
        ctx.save_for_backward(states, gates, gated, U, words, *given)
        ctx.backwards = backwards
        return out.flatten(2), exact[..., :width].to(dtype)

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, d_out: Tensor, d_last: Tensor) -> tuple[Tensor | None, ...]:
        from regard.ops.gru import kernels

        states, gates, gated, U, words, *given = ctx.saved_tensors
        (D, T, B, _), n, backwards = gates.shape, U.shape[2], ctx.backwards
        width = d_last.shape[2]
        W, W_c = (part.transpose(1, 2).contiguous() for part in torch.split(U, [2 * n, n], dim=1))
        d_gates, d_state = torch.empty_like(gates), U.new_zeros(D, B, n, dtype=torch.float32)
        d_state[..., :width] = d_last
        read = (W, W_c, gates, states, words, steps_of(d_out.transpose(0, 1)))
        launch(
            kernels.backward_steps, U, 2, T + 1, *read, d_gates, d_state,
            T=T, B=B, n=n, width=width, BACKWARDS=backwards, DIRECTIONS=D, STAGES=3, **_tiles(U, B),
        )  # fmt: skip
        d_projected = torch.unflatten(d_gates, 3, (3, n))[..., :width].permute(2, 1, 0, 3, 4)
        d_U = torch.empty_like(U)
        for d in range(D):
            flat = d_gates[d].flatten(0, 1)  # (T·B, 3n)
            before = _after(states[d], 1 - (backwards >> d & 1)).flatten(0, 1)
            torch.mm(flat[:, : 2 * n].T, before, out=d_U[d, : 2 * n])
            torch.mm(flat[:, 2 * n :].T, gated[d].flatten(0, 1), out=d_U[d, 2 * n :])
        starts = (
            d_state[d, :, :width].to(given[d].dtype) if ctx.needs_input_grad[3 + d] else None
            for d in range(D)
        )
        weights = (cut(d_U[d], 3, given[D + d]) for d in range(D))
        return d_projected.reshape(B, T, 3 * D * width), None, None, *starts, *weights


def _after(states: Tensor, back: int) -> Tensor:
    """(T + 1, …) → the state at each of T words: after it, or before it if words were read backwards."""
    return states[:-1] if back else states[1:]


def _tiles(U: Tensor, batch: int) -> dict[str, int]:
    """Tiles that leave few programs idle, named as in the kernels."""
    BM, n, size = rows_of(batch), U.shape[2], U.element_size()
    units = units_of(programs_of(U), U.shape[0] * -(-batch // BM), n, 32)
    return {"BM": BM, "BU": units, "BK": (256 if n % 128 == 0 else 128) // size, "num_warps": 8}


def run(
    inputs: Tensor, mask: Tensor, initials: Sequence[Tensor], weights: Sequence[Weights], backwards: int
) -> tuple[Tensor, Tensor]:
    """The GRU over a padded batch, in one direction or in several at once.

    Args:
        inputs: (B, T, m).
        mask: (B, T), True at real words.
        initials: s_0 (B, n) of each direction.
        weights: of each direction.
        backwards: has a bit for each direction, set where it reads from the last word to the first.

    Returns:
        The states of all directions side by side (B, T, D·n), zero on padding, and the last ones (D, B, n).
    """
    if len(weights) == 1:
        projected = linear(inputs, weights[0][0], weights[0][2])
    else:
        projected = linear(
            inputs, torch.cat([W for W, _, _ in weights]), torch.cat([b for _, _, b in weights])
        )
    with torch.autocast(inputs.device.type, enabled=False):
        made: tuple[Tensor, Tensor] = _Recurrence.apply(  # type: ignore[no-untyped-call]
            projected, mask, backwards, *initials, *(U for _, U, _ in weights)
        )
    return made
