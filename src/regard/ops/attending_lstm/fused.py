"""The attending LSTM with its backward pass derived by hand, in plain torch; the same signature as `naive`.

A step of the loop computes only what depends on the last state. The backward loop carries ∂/∂s and ∂/∂(the memory) and
leaves the gradients of U, C, W_a and of the annotations to large products after it. The tanh of the energies is
computed again rather than kept, so memory grows with Ty·Tx and not with Ty·Tx·a. The derivation is in README.md beside
this file.
"""

from typing import Any

import torch
from torch import Tensor

from regard.ops.paths import first_derivative_only
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState


class _Recurrence(torch.autograd.Function):
    """Time comes first in all that has it: projected (Ty, B, 4n) → states (Ty, B, n), contexts, alpha."""

    @staticmethod
    def forward(
        ctx: Any,
        projected: Tensor,
        h0: Tensor,
        c0: Tensor,
        keys: Tensor,
        annotations: Tensor,
        mask: Tensor,
        W_a: Tensor,
        v_a: Tensor,
        U: Tensor,
        C: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        num_steps, batch, n = projected.shape[0], projected.shape[1], U.shape[1]
        gates = projected.clone(memory_format=torch.contiguous_format)  # (Ty, B, 4n)
        states = projected.new_empty(num_steps + 1, batch, n)  # s_0 … s_Ty
        memories = torch.empty_like(states)
        states[0], memories[0] = h0, c0
        squashed = torch.empty_like(states[1:])  # tanh of the memories
        contexts = projected.new_empty(num_steps, batch, annotations.shape[2])
        alpha = projected.new_empty(num_steps, batch, keys.shape[1])
        hidden = torch.empty_like(keys)  # (B, Tx, a)
        padding = ~mask
        for i in range(num_steps):
            torch.add(keys, (states[i] @ W_a.T).unsqueeze(1), out=hidden).tanh_()
            energies = (hidden @ v_a).masked_fill_(padding, float("-inf"))  # (B, Tx)
            torch.softmax(energies, dim=-1, out=alpha[i])
            torch.bmm(alpha[i].unsqueeze(1), annotations, out=contexts[i].unsqueeze(1))
            gates[i].addmm_(contexts[i], C.T).addmm_(states[i], U.T)
            gates[i, :, : 2 * n].sigmoid_()
            gates[i, :, 2 * n : 3 * n].tanh_()
            gates[i, :, 3 * n :].sigmoid_()
            into, forget, candidate, out = torch.split(gates[i], n, dim=-1)
            torch.mul(forget, memories[i], out=memories[i + 1]).addcmul_(into, candidate)
            torch.tanh(memories[i + 1], out=squashed[i])
            torch.mul(out, squashed[i], out=states[i + 1])
        kept = (gates, states, memories, squashed, alpha, contexts)
        ctx.save_for_backward(*kept, keys, annotations, W_a, v_a, U, C)
        return states[1:].clone(), contexts, alpha

    @staticmethod
    @first_derivative_only
    def backward(
        ctx: Any, d_states: Tensor, d_contexts: Tensor, d_alpha: Tensor
    ) -> tuple[Tensor | None, ...]:
        gates, states, memories, squashed, alpha, contexts, keys, annotations, W_a, v_a, U, C = (
            ctx.saved_tensors
        )
        num_steps, batch, n = squashed.shape
        through, to_memory = _factors(gates, memories[:-1], squashed)
        d_projected = torch.empty_like(gates)
        d_context = d_contexts.clone(
            memory_format=torch.contiguous_format
        )  # (Ty, B, d), completed on the way
        d_query = keys.new_empty(num_steps, batch, keys.shape[2])  # (Ty, B, a)
        d_keys, d_v = torch.zeros_like(keys), torch.zeros_like(v_a)
        hidden = torch.empty_like(keys)
        ds, dm = torch.zeros_like(states[0]), torch.zeros_like(states[0])
        for i in reversed(range(num_steps)):
            ds = ds + d_states[i]
            # the LSTM
            dm.addcmul_(ds, to_memory[i])
            blocks = d_projected[i].view(batch, 4, n)
            torch.mul(dm.unsqueeze(1), through[i, :, :3], out=blocks[:, :3])
            torch.mul(ds, through[i, :, 3], out=blocks[:, 3])
            dm *= gates[i, :, n : 2 * n]
            ds = d_projected[i] @ U
            # the context and alpha
            d_context[i].addmm_(d_projected[i], C)
            da = torch.bmm(annotations, d_context[i].unsqueeze(2)).squeeze(2) + d_alpha[i]  # (B, Tx)
            de = alpha[i] * (da - (alpha[i] * da).sum(dim=-1, keepdim=True))  # softmax; 0 on padding
            # the energies
            torch.add(keys, (states[i] @ W_a.T).unsqueeze(1), out=hidden).tanh_()
            d_v += de.flatten() @ hidden.flatten(0, 1)
            hidden.mul_(hidden).neg_().add_(1).mul_(de.unsqueeze(2))  # ∂e/∂(before tanh), without v_a
            d_keys += hidden
            torch.mul(hidden.sum(dim=1), v_a, out=d_query[i])
            ds.addmm_(d_query[i], W_a)
        flat, before = d_projected.flatten(0, 1), states[:-1].flatten(0, 1)
        d_U, d_C = flat.T @ before, flat.T @ contexts.flatten(0, 1)
        d_W_a = d_query.flatten(0, 1).T @ before
        d_annotations = torch.bmm(alpha.permute(1, 2, 0), d_context.transpose(0, 1))  # (B, Tx, d)
        return d_projected, ds, dm, d_keys * v_a, d_annotations, None, d_W_a, d_v, d_U, d_C


def _factors(gates: Tensor, before: Tensor, squashed: Tensor) -> tuple[Tensor, Tensor]:
    """Return what a step's gradient is multiplied by: to the gates (Ty, B, 4, n), and from s to the memory."""
    into, forget, candidate, out = torch.split(gates, squashed.shape[2], dim=-1)
    inner = [
        candidate * into * (1 - into),
        before * forget * (1 - forget),
        into * (1 - candidate * candidate),
    ]
    return torch.stack([*inner, squashed * out * (1 - out)], dim=2), out * (1 - squashed * squashed)


def attending_lstm(
    projected: Float[Tensor, "B Ty gn"],
    initial: PlainState,
    keys: Float[Tensor, "B Tx a"],
    annotations: Float[Tensor, "B Tx d"],
    mask: Bool[Tensor, "B Tx"],
    W_a: Float[Tensor, "a n"],
    v_a: Float[Tensor, "a"],
    U: Float[Tensor, "4*n n"],
    C: Float[Tensor, "4*n d"],
) -> tuple[Float[Tensor, "B Ty n"], Float[Tensor, "B Ty d"], Float[Tensor, "B Ty Tx"]]:
    """All steps of the decoder's recurrence; see `naive`."""
    # mixed precision narrows what comes in; the recurrence keeps the width of the parameters
    width = U.dtype
    h0, c0 = (part.to(width) for part in initial)
    with torch.autocast(projected.device.type, enabled=False):
        states, contexts, alpha = _Recurrence.apply(  # type: ignore[no-untyped-call]
            projected.transpose(0, 1).to(width),
            h0,
            c0,
            keys.to(width),
            annotations.to(width),
            mask,
            W_a,
            v_a,
            U,
            C,
        )
    return states.transpose(0, 1), contexts.transpose(0, 1), alpha.transpose(0, 1)
