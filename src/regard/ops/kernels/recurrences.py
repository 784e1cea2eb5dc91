"""The Triton backend: from a description to the kernels of that recurrence, one launch forwards and one back."""

from dataclasses import replace

import torch

from regard.ops.attending import persistent as attending
from regard.ops.attending_gru import persistent as attending_gru
from regard.ops.backends import NO_DROPOUT, NO_KERNEL, ONE_LAYER, OTHER_ENERGY
from regard.ops.by_hand.steps import Plan, finish, prepare, scales_of
from regard.ops.differentiable import differentiable
from regard.ops.gru import persistent as gru
from regard.ops.kernels.choose import computing_dtype, kernels_apply
from regard.ops.kernels.padding import widened
from regard.ops.recurrence import Inputs, Outputs, Recurrence, Source, Weights
from regard.ops.tape import persistent as tape
from regard.ops.unroll import State


def supports(recurrence: Recurrence, inputs: Inputs, weights: Weights) -> str:
    """Why no kernel computes a recurrence, whatever the device; empty if one does."""
    r, cell = recurrence, recurrence.cell
    if any(read.energy == "other" for read in r.reads):
        return OTHER_ENERGY
    if inputs.state_mask is not None:
        return NO_DROPOUT
    if r.layers > 1:
        return ONE_LAYER
    if r.past is not None:
        tapes = ("lstm", "lstm-plain") if r.source is not None or r.past.asks == "last read" else ()
        if cell != "rnn" and cell not in tapes:
            return NO_KERNEL
        asking = (weights.past, weights.source)
        widths = {len(each.matrix) for each in asking if each is not None and each.matrix is not None}
        return "its two queries differ in width" if len(widths) > 1 else ""
    if r.source is None:
        return "" if cell == "gru" and weights.W is not None else NO_KERNEL
    if r.source.enters == "readout":
        return "" if cell == "lstm" else NO_KERNEL
    return "" if cell in ("gru", "lstm") and r.source.energy == "additive" else NO_KERNEL


def source_widths(recurrence: Recurrence, source: Source, weights: Weights) -> tuple[int, ...]:
    """Of what a row of a tile has to hold."""
    a, n = source.keys.shape[2], weights.U.shape[1]
    if weights.W_c is not None:
        return a, n, weights.W_c.shape[0]
    return (a, n) if recurrence.cell == "gru" else (a, source.values.shape[2], n)


def run(recurrence: Recurrence, inputs: Inputs, weights: Weights, state: State) -> Outputs:
    """All steps of a recurrence; see `ops.run`."""
    source, asking, past = inputs.source, weights.source, recurrence.past
    if past is None and (source is None or asking is None):
        states, last = gru.run(
            inputs.x, _mask_of(inputs), state, [_gru_weights(weights)], int(inputs.reverse)
        )
        return Outputs(states, (last[0],))
    return _run_reading(recurrence, inputs, weights, state)


def _mask_of(inputs: Inputs) -> torch.Tensor:
    if inputs.mask is not None:
        return inputs.mask
    return torch.ones(inputs.x.shape[:2], dtype=torch.bool, device=inputs.x.device)


def _run_reading(recurrence: Recurrence, inputs: Inputs, weights: Weights, state: State) -> Outputs:
    """Recurrences with a tape, in the precision of their projected inputs; others in that of the source's keys."""
    past, source = recurrence.past, inputs.source
    if past is not None and source is None:
        inputs = replace(inputs, mask=_mask_of(inputs))
    dtype = source.keys.dtype if past is None and source is not None else None
    prepared = prepare(recurrence, inputs, weights, state, dtype)
    widths = _widths(prepared, past is not None)
    if past is None and recurrence.cell == "gru":
        given, passes = prepared, attending_gru.PASSES
    else:
        given, passes = _widened(prepared, widths), attending.PASSES if past is None else tape.PASSES
    with torch.autocast(inputs.x.device.type, enabled=False):
        made = differentiable(passes, Plan(recurrence, *scales_of(weights)), given)
    made = {
        name: each[..., : widths[_BLOCKS[name]]] if name in _BLOCKS else each for name, each in made.items()
    }
    ends = []
    for name, first in (("states", "h0"), ("memories", "c0"), ("summaries", "s0")):
        start, real = prepared.get(first), prepared.get("real")
        if name in made and real is not None and start is not None:
            ends.append(tape.last_real(made[name], start, real))
    return finish(recurrence, inputs, prepared, made, tuple(ends))


_BLOCKS = {
    **dict.fromkeys(("h0", "c0", "s0", "reading0", "written0", "states", "memories", "summaries"), "n"),
    **dict.fromkeys(("keys0", "source_keys", "past_v", "source_v", "keys"), "p"),
    **dict.fromkeys(("source_values", "fed0", "dropped", "contexts", "readouts"), "v"),
    "U": "nn",
    "R": "nn",
    "C": "nv",
    "F": "nv",
    "W_h": "vn",
    **dict.fromkeys(("past_matrix", "source_matrix", "past_keys"), "pn"),
}
"""What the last dimensions of a tensor consist of: blocks of n units of a state, of p of a query and key, or of those
of the source's values, which are states where there is a tape."""


def _widths(prepared: dict[str, torch.Tensor | None], tape: bool) -> dict[str, int]:
    """Of the blocks, by their letters."""
    h, keys = prepared["h0"], prepared["keys0" if tape else "source_keys"]
    values = prepared.get("source_values")
    assert h is not None
    assert keys is not None
    n = h.shape[-1]
    return {"n": n, "p": keys.shape[-1], "v": n if tape or values is None else values.shape[-1]}


def _widened(
    prepared: dict[str, torch.Tensor | None], widths: dict[str, int]
) -> dict[str, torch.Tensor | None]:
    """What `prepare` gave, with zeros after each block of units: a unit without weights stays at 0."""
    given = dict(prepared)
    for name in _BLOCKS.keys() & prepared.keys():
        each = prepared[name]
        given[name] = None if each is None else widened(each, *(widths[k] for k in _BLOCKS[name]))
    x = prepared["x"]
    assert x is not None
    gates = sum(len(each) for name in ("U", "R") if (each := prepared.get(name)) is not None)
    parts = [widened(x[..., :gates], widths["n"])]
    if x.shape[-1] > gates:
        parts.append(widened(x[..., gates:], widths["p"]))
    given["x"] = torch.cat(parts, dim=-1) if len(parts) > 1 else parts[0]
    return given


def runs_both(recurrence: Recurrence, inputs: Inputs, weights: Weights) -> bool:
    """Whether two directions run in one launch."""
    if supports(recurrence, inputs, weights) or recurrence.reads:
        return False
    return kernels_apply(inputs.x, 0, weights.U.shape[1], dtype=computing_dtype(inputs.x))


def run_both(
    inputs: Inputs, ahead: Weights, back: Weights, states: tuple[State, State]
) -> tuple[torch.Tensor, State, State]:
    """Two GRUs at once, the second from the last word to the first: [→h_j; ←h_j] (B, T, 2n), both last states."""
    starts = (states[0][0], states[1][0])
    both, last = gru.run(inputs.x, _mask_of(inputs), starts, [_gru_weights(ahead), _gru_weights(back)], 2)
    return both, (last[0],), (last[1],)


def _gru_weights(weights: Weights) -> gru.Weights:
    """W, U and b, which are there."""
    assert weights.W is not None
    assert weights.b is not None
    return weights.W, weights.U, weights.b
