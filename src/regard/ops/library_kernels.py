"""Torch's own recurrent kernels, cuDNN's on a GPU: the LSTM, the tanh RNN and the GRU as torch computes it.

They take packed sequences. Each row must have at least one real word, and padding must be on the right, as
`batches/pad.py` makes it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from regard.ops.backends import NO_DROPOUT
from regard.ops.recurrence import Inputs, Outputs, Recurrence, Weights
from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState, State

LayerState = tuple[Float[Tensor, "1 B n"], ...]
"""A `PlainState` as torch's kernels keep it, with an axis for the layer."""

Kernel = Callable[[Tensor, Tensor, LayerState], tuple[Tensor, LayerState]]
"""(packed data, batch sizes, first states) → (packed states, last states)."""


_KERNELS: dict[str, Callable[..., Any]] = {"rnn": torch.rnn_tanh, "lstm": torch.lstm, "gru-torch": torch.gru}


def supports(recurrence: Recurrence, inputs: Inputs, weights: Weights) -> str:
    """Why torch has no kernel for a recurrence; empty if it has one."""
    if recurrence.reads or recurrence.cell not in _KERNELS or weights.W is None:
        return "torch has no kernel for it"
    return "" if inputs.state_mask is None else NO_DROPOUT


def run(recurrence: Recurrence, inputs: Inputs, weights: Weights, state: State) -> Outputs:
    """All steps of a recurrence; see `ops.run`."""
    W, U, b, x, call = weights.W, weights.U, weights.b, inputs.x, _KERNELS[recurrence.cell]
    assert W is not None
    assert b is not None
    second = torch.zeros_like(b)
    if recurrence.cell == "gru-torch":
        assert weights.b_U is not None
        W, U, b = _reset_first(W), _reset_first(U), _reset_first(b)
        second = torch.cat([second[: 2 * len(weights.b_U)], weights.b_U])
    matrices = in_one_buffer([W, U, b, second])
    options = (True, 1, 0.0, torch.is_grad_enabled(), False)

    def kernel(data: Tensor, batch_sizes: Tensor, start: LayerState) -> tuple[Tensor, LayerState]:
        first = list(start) if recurrence.has_memory else start[0]
        states, *last = call(data, batch_sizes, first, matrices, *options)
        return states, tuple(last)

    mask = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device) if inputs.mask is None else inputs.mask
    return Outputs(*run_packed(kernel, x, mask, state, inputs.reverse))


def _reset_first(stacked: Tensor) -> Tensor:
    """Reorder our update, reset, candidate into torch's reset, update, candidate."""
    update, reset, candidate = stacked.chunk(3)
    return torch.cat([reset, update, candidate])


def flip_rows(x: Float[Tensor, "B T d"], mask: Bool[Tensor, "B T"]) -> Float[Tensor, "B T d"]:
    """Reverse the real part of each row, with padding still on the right."""
    positions = torch.arange(x.shape[1], device=x.device)
    lengths = mask.sum(dim=1, keepdim=True)
    order = torch.where(mask, lengths - 1 - positions, positions)  # (B, T)
    return torch.gather(x, 1, order.unsqueeze(-1).expand_as(x))


def in_one_buffer(weights: Sequence[Tensor]) -> list[Tensor]:
    """The same weights side by side in memory, as cuDNN requires; on a CPU unchanged."""
    if not weights[0].is_cuda:
        return list(weights)
    buffer = torch.cat([weight.flatten() for weight in weights])
    parts = torch.split(buffer, [weight.numel() for weight in weights])
    return [part.view_as(weight) for part, weight in zip(parts, weights, strict=True)]


def run_packed(
    kernel: Kernel,
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: PlainState,
    reverse: bool,
) -> tuple[Float[Tensor, "B T n"], PlainState]:
    """Pack, run one layer in one direction, unpack."""
    if reverse:
        inputs = flip_rows(inputs, mask)
    packed = pack_padded_sequence(inputs, mask.sum(dim=1).cpu(), batch_first=True, enforce_sorted=False)
    order, back = packed.sorted_indices, packed.unsorted_indices
    assert order is not None, "enforce_sorted=False always sorts"
    assert back is not None
    start = tuple(part.index_select(0, order).unsqueeze(0) for part in initial)
    data, last = kernel(packed.data, packed.batch_sizes, start)
    states, _ = pad_packed_sequence(
        PackedSequence(data, packed.batch_sizes, order, back), batch_first=True, total_length=inputs.shape[1]
    )
    if reverse:
        states = flip_rows(states, mask)
    return states, tuple(part.squeeze(0).index_select(0, back) for part in last)
