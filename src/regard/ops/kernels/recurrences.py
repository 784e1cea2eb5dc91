"""The Triton backend: from a description to the kernels of that recurrence, one launch forwards and one back."""

from dataclasses import replace

import torch

from regard.ops.attending_gru import persistent as attending_gru
from regard.ops.attending_lstm import persistent as attending_lstm
from regard.ops.backends import NO_DROPOUT, NO_KERNEL, OTHER_ENERGY
from regard.ops.by_hand.steps import finish, fused_weights, prepare, project, scales_of
from regard.ops.deep_fusion import persistent as deep_fusion
from regard.ops.gru import persistent as gru
from regard.ops.input_feeding import persistent as feeding
from regard.ops.kernels.choose import computing_dtype, kernels_apply
from regard.ops.lstmn import persistent as lstmn
from regard.ops.recurrence import Inputs, Outputs, Recurrence, Source, Weights
from regard.ops.self_attentive_rnn import persistent as self_attentive
from regard.ops.tape.persistent import last_real, tape_lacks
from regard.ops.unroll import State


def supports(recurrence: Recurrence, inputs: Inputs, weights: Weights) -> str:
    """Why no kernel computes a recurrence, whatever the device; empty if one does."""
    r, cell = recurrence, recurrence.cell
    if any(read.energy == "other" for read in r.reads):
        return OTHER_ENERGY
    if r.past is not None:
        tapes = ("lstm", "lstm-plain") if r.source is not None or r.past.asks == "last read" else ()
        if cell != "rnn" and cell not in tapes:
            return NO_KERNEL
        assert weights.past is not None
        n = weights.U.shape[1] // (1 + r.keeps)
        asking = (weights.past, weights.source)
        widths = [len(each.matrix) for each in asking if each is not None and each.matrix is not None]
        lacks = tape_lacks(
            r.past.span, inputs.state_mask is not None, *([2 * n] if r.has_memory else []), n, *widths
        )
        return lacks or ("its two queries differ in width" if len(set(widths)) > 1 else "")
    if inputs.state_mask is not None:
        return NO_DROPOUT
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
    if recurrence.past is not None:
        return _run_tape(recurrence, inputs, weights, state)
    x, U, source, asking = inputs.x, weights.U, inputs.source, weights.source
    if source is None or asking is None:
        assert weights.W is not None
        assert weights.b is not None
        given = (x, _mask_of(inputs), state, weights.W, U, weights.b, inputs.reverse)
        return Outputs(*gru.gru_sequence(*given))
    projected, (_, v_a, scale) = project(inputs, weights), fused_weights(asking.scoring)
    keys = source.keys if scale == 1 else source.keys * scale
    if recurrence.source is not None and recurrence.source.enters == "readout":
        *initial, fed = state
        assert weights.F is not None
        assert weights.W_c is not None
        asked = (keys, source.values, source.mask, asking.matrix, v_a)
        readouts, alpha = feeding.input_feeding_lstm(
            projected, tuple(initial), fed, *asked, weights.F, U, weights.W_c, inputs.dropped
        )
        return Outputs(readouts, source_alpha=alpha)
    assert asking.matrix is not None
    assert v_a is not None
    assert weights.C is not None
    given_source = (keys, source.values, source.mask, asking.matrix, v_a, U, weights.C)
    if recurrence.cell == "gru":
        states, contexts, alpha = attending_gru.attending_gru(projected, state[0], *given_source)
    else:
        states, contexts, alpha = attending_lstm.attending_lstm(projected, state, *given_source)
    return Outputs(states, source_alpha=alpha, contexts=contexts)


def _mask_of(inputs: Inputs) -> torch.Tensor:
    if inputs.mask is not None:
        return inputs.mask
    return torch.ones(inputs.x.shape[:2], dtype=torch.bool, device=inputs.x.device)


def _run_tape(recurrence: Recurrence, inputs: Inputs, weights: Weights, state: State) -> Outputs:
    """Recurrences with a tape, in the precision of their projected inputs."""
    if recurrence.source is None:
        inputs = replace(inputs, mask=_mask_of(inputs))
    given, (past_scale, source_scale) = prepare(recurrence, inputs, weights, state, None), scales_of(weights)
    starts, tapes = [given["s0"]], [given["keys0"], given["written0"], given["valid"], given.get("real")]
    matrices = [given[name] for name in ("U", "past_matrix", "past_keys", "past_v")]
    squash, span = recurrence.cell != "lstm-plain", 0
    with torch.autocast(inputs.x.device.type, enabled=False):
        if recurrence.source is not None:
            made = _fusion(given, (past_scale, source_scale, squash, span))
        elif recurrence.has_memory:
            options = (past_scale, squash, span)
            parts = lstmn.Recurrence.apply(given["x"], *starts, *tapes, *matrices, None, options)  # type: ignore[no-untyped-call]
            made = dict(zip(("states", "memories", "summaries", "keys", "alpha"), parts, strict=True))
        else:
            x, U = given["x"], weights.U
            assert x is not None
            last = (*starts, *tapes, *matrices, None, past_scale, span)
            if recurrence.past is not None and recurrence.past.asks == "last read":
                parts = self_attentive.Read.apply(
                    *torch.split(x, [len(U), x.shape[2] - len(U)], dim=-1), *last
                )  # type: ignore[no-untyped-call]
            else:
                parts = self_attentive.Sum.apply(x, given["h0"], *last)  # type: ignore[no-untyped-call]
            made = dict(zip(("states", "summaries", "keys", "alpha"), parts, strict=True))
    ends = []
    for name, first in (("states", "h0"), ("memories", "c0"), ("summaries", "s0")):
        start, real = given.get(first), given.get("real")
        if name in made and real is not None and start is not None:
            ends.append(last_real(made[name], start, real))
    return finish(recurrence, inputs, given, made, tuple(ends))


def _fusion(given: dict[str, torch.Tensor | None], options: deep_fusion.Options) -> dict[str, torch.Tensor]:
    """Deep fusion; its first tape comes in two parts."""
    written = given["written0"]
    assert written is not None
    starts = (given["s0"], given["reading0"], given["keys0"], *written.chunk(2, dim=-1), given["valid"])
    source = (given["source_keys"], given["source_values"], given["source_mask"])
    names = ("U", "R", "past_matrix", "source_matrix", "past_keys", "past_v", "source_v")
    weights = (given[name] for name in names)
    parts = deep_fusion.Recurrence.apply(given["x"], *starts, *source, *weights, None, options)  # type: ignore[no-untyped-call]
    return dict(zip(("states", "source_alpha", "alpha"), parts, strict=True))


def runs_both(recurrence: Recurrence, inputs: Inputs, weights: Weights) -> bool:
    """Whether two directions run in one launch."""
    if supports(recurrence, inputs, weights) or recurrence.reads:
        return False
    return kernels_apply(inputs.x, 0, weights.U.shape[1], dtype=computing_dtype(inputs.x))


def run_both(
    inputs: Inputs, ahead: Weights, back: Weights, states: tuple[State, State]
) -> tuple[torch.Tensor, State, State]:
    """Two GRUs at once, the second from the last word to the first: [→h_j; ←h_j] (B, T, 2n), both last states."""
    weights = []
    for each in (ahead, back):
        assert each.W is not None
        assert each.b is not None
        weights.append((each.W, each.U, each.b))
    return gru.bidirectional_gru(inputs.x, _mask_of(inputs), states, *weights)
