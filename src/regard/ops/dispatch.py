"""Any recurrence, by the fastest backend that supports it: all steps, one step, or two directions at once.

In: a `Recurrence`, its `Inputs`, `Weights` and state. Out: its `Outputs`. `ops/backends` decides which backend that is;
each says here why it does not compute a recurrence, whatever the device.
"""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from regard.ops import definitions, library_kernels
from regard.ops.backends import Name, Question, choose, tell
from regard.ops.by_hand import steps as by_hand
from regard.ops.kernels import recurrences as triton
from regard.ops.kernels.choose import computing_dtype
from regard.ops.native import native_applies
from regard.ops.native import recurrences as native
from regard.ops.paths import fused_wanted, untraced
from regard.ops.recurrence import Inputs, Outputs, Recurrence, Source, Weights, parts_of
from regard.ops.unroll import State

Run = Callable[[Recurrence, Inputs, Weights, State], Outputs]


@untraced
def run(recurrence: Recurrence, inputs: Inputs, weights: Weights, state: State) -> Outputs:
    """All steps of a recurrence over a padded batch.

    Args:
        recurrence: which.
        inputs: what it runs over.
        weights: its matrices.
        state: h (B, n), and c of an LSTM; then, of one with input feeding, h̃_0 (B, l), and the same h and c of each
            layer above; of one that attends to its past, the last summary s, in deep fusion the last reading γ̃, keys,
            values (and memories) of its tape, and their mask.
    """
    return _RUNS[choose(question(recurrence, inputs, weights, state))](recurrence, inputs, weights, state)


def _torch(recurrence: Recurrence, inputs: Inputs, weights: Weights, state: State) -> Outputs:
    """Torch's own kernel where it has one, else the steps derived by hand."""
    if library_kernels.supports(recurrence, inputs, weights):
        return by_hand.run(recurrence, inputs, weights, state)
    return library_kernels.run(recurrence, inputs, weights, state)


_RUNS: dict[Name, Run] = {
    "Triton": lambda *given: triton.run(*given),
    "C": lambda *given: native.run(*given),
    "torch": _torch,
    "naive": lambda *given: definitions.run(*given),
}


def question(recurrence: Recurrence, inputs: Inputs, weights: Weights, state: State) -> Question:
    """The question to the backends."""
    r, U, source = recurrence, weights.U, inputs.source
    lacks: dict[Name, str] = {
        "Triton": triton.supports(recurrence, inputs, weights),
        "C": native.supports(recurrence, inputs, weights),
        "torch": library_kernels.supports(recurrence, inputs, weights) and by_hand.supports(recurrence),
    }
    n = U.shape[1] // (1 + r.keeps)
    if r.past is None:
        if source is None:
            given, dtype = (inputs.x, *state), computing_dtype(inputs.x)
            return Question(r.name, U, given, widths=(n,), dtype=dtype, lacks=lacks)
        given = (source.keys, inputs.x, *state, source.values)
        widths = triton.source_widths(recurrence, source, weights)
        return Question(r.name, U, given, source.keys.shape[1], widths, lacks=lacks)
    parts = parts_of(recurrence, state)
    keys = parts.tapes[0]
    slots = keys.shape[1] + inputs.x.shape[1]
    if source is not None:
        slots = max(slots, source.mask.shape[1])
    widths = (*([2 * n] if r.has_memory else []), n, keys.shape[2])
    return Question(r.name, U, (inputs.x, *state[:-1]), slots, widths, computing_dtype(inputs.x), lacks)


def step(
    recurrence: Recurrence,
    projected: Tensor,
    weights: Weights,
    state: State,
    *,
    source: Source | None = None,
    state_mask: Tensor | None = None,
) -> Outputs:
    """One step for search, from W x + b (R, ·): in C where U was packed for decoding.

    A decoder that attends to the source asks it by its own attention layer, except in deep fusion: there `source` may
    have fewer rows than the state, R = B·K.

    Returns:
        `Outputs` without a time axis: h, the new state, and what was attended to.
    """
    packed = None if weights.packed is None else weights.packed.of(weights.U)
    decodes = packed is not None and recurrence.past is None and recurrence.cell in native.DECODING
    if decodes and packed is not None and state_mask is None and native_applies(weights.U, projected, *state):
        new = native.step(recurrence.cell, projected, state, packed)
        return Outputs(new[0], new)
    return definitions.step(recurrence, projected, weights, state, source, state_mask)


@untraced
def run_both(
    recurrence: Recurrence, inputs: Inputs, ahead: Weights, back: Weights, states: tuple[State, State]
) -> tuple[Tensor, State, State]:
    """Two recurrences of one kind over a padded batch, the second from the last word to the first.

    In one launch where that is faster: on a GPU, of the paper's GRU.

    Returns:
        [→h_j; ←h_j] (B, T, 2n); the last state of the forward and of the backward direction.
    """
    if fused_wanted() and triton.runs_both(recurrence, inputs, ahead):
        tell(f"bidirectional {recurrence.name}", "Triton", {})
        return triton.run_both(inputs, ahead, back, states)
    one = run(recurrence, inputs, ahead, states[0])
    other = run(recurrence, replace(inputs, reverse=True), back, states[1])
    return torch.cat([one.states, other.states], dim=-1), one.last, other.last
