"""Padded rows through torch's recurrent kernels, which take packed sequences.

In: right-padded inputs, their mask, and a kernel that takes packed data. Out: what `unroll` gives.
Each row must have at least one real word, and padding must be on the right, as `batches/pad.py` makes it.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from regard.ops.shapes import Bool, Float
from regard.ops.unroll import PlainState

LayerState = tuple[Float[Tensor, "1 B n"], ...]
"""A `PlainState` as torch's kernels keep it, with an axis for the layer."""

Kernel = Callable[[Tensor, Tensor, LayerState], tuple[Tensor, LayerState]]
"""(packed data, batch sizes, first states) → (packed states, last states)."""


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
