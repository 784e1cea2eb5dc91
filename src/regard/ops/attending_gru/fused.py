"""RNNsearch's recurrence with its backward pass derived by hand; the same signature as `naive`.

A step of the loop computes only what depends on the last state. The backward loop carries ∂/∂s and leaves the
gradients of U, C, W_a and of the annotations to large products after it. The tanh of the energies is computed
again rather than kept, so memory grows with Ty·Tx and not with Ty·Tx·a. The derivation is in README.md beside
this package.
"""

from typing import Any

import torch
from torch import Tensor

from regard.ops.paths import first_derivative_only
from regard.ops.shapes import Bool, Float


class _Recurrence(torch.autograd.Function):
    """Time comes first in all that has it: projected (Ty, B, 3n) → states (Ty, B, n), contexts, alpha."""

    @staticmethod
    def forward(
        ctx: Any,
        projected: Tensor,
        initial: Tensor,
        keys: Tensor,
        annotations: Tensor,
        mask: Tensor,
        W_a: Tensor,
        v_a: Tensor,
        U: Tensor,
        C: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        num_steps, batch, n = projected.shape[0], projected.shape[1], U.shape[1]
        gates = projected.clone(
            memory_format=torch.contiguous_format
        )  # (Ty, B, 3n): update, reset, candidate
        states = projected.new_empty(num_steps + 1, batch, n)  # s_0 … s_Ty
        states[0] = initial
        contexts = projected.new_empty(num_steps, batch, annotations.shape[2])
        alpha = projected.new_empty(num_steps, batch, keys.shape[1])
        hidden = torch.empty_like(keys)  # (B, Tx, a)
        padding = ~mask
        U_gates, U_candidate = U[: 2 * n].T, U[2 * n :].T
        for i in range(num_steps):
            s = states[i]
            torch.add(keys, (s @ W_a.T).unsqueeze(1), out=hidden).tanh_()
            energies = (hidden @ v_a).masked_fill_(padding, float("-inf"))  # (B, Tx)
            torch.softmax(energies, dim=-1, out=alpha[i])
            torch.bmm(alpha[i].unsqueeze(1), annotations, out=contexts[i].unsqueeze(1))
            gates[i].addmm_(contexts[i], C.T)
            gates[i, :, : 2 * n].addmm_(s, U_gates).sigmoid_()
            gates[i, :, 2 * n :].addmm_(gates[i, :, n : 2 * n] * s, U_candidate).tanh_()
            torch.lerp(s, gates[i, :, 2 * n :], gates[i, :, :n], out=states[i + 1])
        ctx.save_for_backward(gates, states, alpha, contexts, keys, annotations, W_a, v_a, U, C)
        return states[1:].clone(), contexts, alpha

    @staticmethod
    @first_derivative_only
    def backward(
        ctx: Any, d_states: Tensor, d_contexts: Tensor, d_alpha: Tensor
    ) -> tuple[Tensor | None, ...]:
        gates, states, alpha, contexts, keys, annotations, W_a, v_a, U, C = ctx.saved_tensors
        num_steps, n = gates.shape[0], U.shape[1]
        update, reset, candidate = gates.split(n, dim=-1)
        previous = states[:-1]
        # what depends on no later step, for all steps at once
        through_update = (candidate - previous) * update * (1 - update)
        through_candidate = update * (1 - candidate * candidate)
        through_reset = previous * reset * (1 - reset)
        d_projected = torch.empty_like(gates)
        d_context = d_contexts.clone(
            memory_format=torch.contiguous_format
        )  # (Ty, B, d), completed on the way
        d_query = keys.new_empty(num_steps, keys.shape[0], keys.shape[2])  # (Ty, B, a)
        d_keys = torch.zeros_like(keys)
        d_v = torch.zeros_like(v_a)
        hidden = torch.empty_like(keys)
        U_gates, U_candidate = U[: 2 * n], U[2 * n :]
        ds = torch.zeros_like(states[0])
        for i in reversed(range(num_steps)):
            ds = ds + d_states[i]
            # the GRU
            d_candidate = torch.mul(ds, through_candidate[i], out=d_projected[i, :, 2 * n :])
            d_gated = d_candidate @ U_candidate  # ∂/∂(r ∘ s)
            torch.mul(ds, through_update[i], out=d_projected[i, :, :n])
            torch.mul(d_gated, through_reset[i], out=d_projected[i, :, n : 2 * n])
            ds = ds - ds * update[i] + d_gated * reset[i]
            ds.addmm_(d_projected[i, :, : 2 * n], U_gates)
            # the context and alpha
            d_context[i].addmm_(d_projected[i], C)
            da = torch.bmm(annotations, d_context[i].unsqueeze(2)).squeeze(2) + d_alpha[i]  # (B, Tx)
            de = alpha[i] * (da - (alpha[i] * da).sum(dim=-1, keepdim=True))  # softmax; 0 on padding
            # the energies
            torch.add(keys, (previous[i] @ W_a.T).unsqueeze(1), out=hidden).tanh_()
            d_v += (de.flatten() @ hidden.flatten(0, 1)).flatten()
            hidden.mul_(hidden).neg_().add_(1).mul_(de.unsqueeze(2))  # ∂e/∂(before tanh), without v_a
            d_keys += hidden
            torch.mul(hidden.sum(dim=1), v_a, out=d_query[i])
            ds.addmm_(d_query[i], W_a)
        flat = d_projected.flatten(0, 1)  # (Ty·B, 3n)
        before = previous.flatten(0, 1)
        d_U = torch.cat([flat[:, : 2 * n].T @ before, flat[:, 2 * n :].T @ (reset * previous).flatten(0, 1)])
        d_C = flat.T @ contexts.flatten(0, 1)
        d_W_a = d_query.flatten(0, 1).T @ before
        d_annotations = torch.bmm(alpha.permute(1, 2, 0), d_context.transpose(0, 1))  # (B, Tx, d)
        return d_projected, ds, d_keys * v_a, d_annotations, None, d_W_a, d_v, d_U, d_C


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
    """All steps of the decoder's recurrence; see `naive`."""
    # mixed precision narrows what comes in; the recurrence keeps the width of the parameters
    width = U.dtype
    with torch.autocast(projected.device.type, enabled=False):
        states, contexts, alpha = _Recurrence.apply(  # type: ignore[no-untyped-call]
            projected.transpose(0, 1).to(width),
            initial.to(width),
            keys.to(width),
            annotations.to(width),
            mask,
            W_a,
            v_a,
            U,
            C,
        )
    return states.transpose(0, 1), contexts.transpose(0, 1), alpha.transpose(0, 1)
