"""The naive backend: from a description to the definition of that recurrence, which follows the paper line by line."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from regard.ops.affine import affine
from regard.ops.attending.naive import attending
from regard.ops.attending_gru.naive import attending_gru
from regard.ops.deep_fusion.naive import Fusion, SourceTape, deep_fusion, deep_fusion_step
from regard.ops.gru.naive import gru_sequence, gru_step
from regard.ops.gru_variants.naive import mut1_step, mut3_step
from regard.ops.input_feeding.naive import input_feeding
from regard.ops.lstm.naive import lstm_sequence, lstm_step
from regard.ops.lstm_variants.naive import lstm_1997_step, lstm_without_step, peephole_lstm_step
from regard.ops.lstmn.naive import lstmn_sequence, lstmn_step
from regard.ops.recurrence import Inputs, Outputs, Recurrence, Source, Weights, parts_of
from regard.ops.rnn.naive import rnn_sequence, rnn_step
from regard.ops.self_attentive_rnn.naive import read_step, self_attentive_rnn_sequence, sum_step
from regard.ops.tape.scoring import AdditiveScoring, DotScoring
from regard.ops.torch_gru.naive import torch_gru_step
from regard.ops.unroll import State, unroll

STEPS: dict[str, Callable[[Tensor, State, Weights, Tensor | None], State]] = {
    "rnn": lambda x, state, w, mask: rnn_step(x, state, w.U, "tanh", mask),
    "rnn-sigmoid": lambda x, state, w, mask: rnn_step(x, state, w.U, "sigmoid", mask),
    "gru": lambda x, state, w, mask: gru_step(x, state, w.U, mask),
    "gru-torch": lambda x, state, w, mask: torch_gru_step(x, state, w.U, _there(w.b_U), mask),
    "mut1": lambda x, state, w, mask: mut1_step(x, state, w.U, _there(w.b_U), mask),
    "mut3": lambda x, state, w, mask: mut3_step(x, state, w.U, mask),
    "lstm": lambda x, state, w, mask: lstm_step(x, state, w.U, mask),
    "lstm-peephole": lambda x, state, w, mask: peephole_lstm_step(x, state, w.U, _there(w.p), mask),
    "lstm-1997": lambda x, state, w, mask: lstm_1997_step(x, state, w.U, mask),
    "lstm-no-input": lambda x, state, w, mask: lstm_without_step(x, state, w.U, "input", mask),
    "lstm-no-forget": lambda x, state, w, mask: lstm_without_step(x, state, w.U, "forget", mask),
    "lstm-no-output": lambda x, state, w, mask: lstm_without_step(x, state, w.U, "output", mask),
}
"""One step of each cell: (W x + b, state, weights, state mask) → state."""

SEQUENCES: dict[str, Callable[..., tuple[Tensor, State]]] = {
    "rnn": partial(rnn_sequence, activation="tanh"),
    "rnn-sigmoid": partial(rnn_sequence, activation="sigmoid"),
    "gru": gru_sequence,
    "lstm": lstm_sequence,
}
"""All steps of a cell whose definition has them."""


def _there(part: Tensor | None) -> Tensor:
    assert part is not None, "this cell has a weight more"
    return part


def run(recurrence: Recurrence, inputs: Inputs, weights: Weights, state: State) -> Outputs:
    """All steps of a recurrence; see `ops.run`."""
    if recurrence.past is not None:
        return (_run_tape if recurrence.source is None else _run_fusion)(recurrence, inputs, weights, state)

    def one(projected: Tensor, previous: State) -> State:
        return STEPS[recurrence.cell](projected, previous, weights, inputs.state_mask)

    x, W, b = inputs.x, weights.W, weights.b
    if recurrence.source is not None:
        assert inputs.source is not None
        assert weights.source is not None
        projected = x if W is None else affine(x, W, b, weights.packed)
        keys, values, mask, _ = inputs.source
        scoring = weights.source.scoring
        assert isinstance(scoring, AdditiveScoring | DotScoring), "only layers know this energy"
        keys = keys if scoring.scale == 1 else keys * scoring.scale
        source = (keys, values, mask, weights.source.matrix, scoring.fused[1])
        paper = recurrence.cell == "gru" and inputs.state_mask is None and weights.source.matrix is not None
        if recurrence.source.enters == "gates" and paper and scoring.fused[1] is not None:
            given = (*source[:3], _there(source[3]), _there(source[4]), weights.U, _there(weights.C))
            states, contexts, alpha = attending_gru(projected, state[0], *given)
            return Outputs(states, source_alpha=alpha, contexts=contexts)
        if recurrence.source.enters == "gates":
            states, contexts, alpha = attending(projected, state, *source, _there(weights.C), one)
            return Outputs(states, source_alpha=alpha, contexts=contexts)
        parts, matrices = parts_of(recurrence, state), (_there(weights.F), _there(weights.W_c))
        initial = [part for layer in reversed(parts.above) for part in layer]
        initial += [parts.h] if parts.c is None else [parts.h, parts.c]
        fed, climb = _there(parts.fed), partial(_climb, recurrence, inputs, weights)
        made = input_feeding(projected, tuple(initial), fed, *source, *matrices, inputs.dropped, climb)
        return Outputs(*_readout(made))
    mask = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device) if inputs.mask is None else inputs.mask
    if W is None or weights.packed is not None:
        projected = x if W is None else affine(x, W, b, weights.packed)
        return Outputs(*unroll(one, projected, mask, state, inputs.reverse))
    if recurrence.cell in SEQUENCES and b is not None:
        run_all = SEQUENCES[recurrence.cell]
        options = {"reverse": inputs.reverse, "state_mask": inputs.state_mask}
        return Outputs(*run_all(x, mask, state, W, weights.U, b, **options))
    bias = b if b is not None else 0.0
    return Outputs(*unroll(lambda x, previous: one(x @ W.T + bias, previous), x, mask, state, inputs.reverse))


def _climb(
    recurrence: Recurrence, inputs: Inputs, weights: Weights, projected: Tensor, state: State, t: int
) -> State:
    """One step of all layers, from W x + b of the first one; of a state, the top layer's part comes first."""
    width = 1 + recurrence.has_memory
    new: State = ()
    for k in range(recurrence.layers):
        previous = state[(recurrence.layers - 1 - k) * width :][:width]
        own, mask = weights, inputs.state_mask
        if k:
            own, mask = weights.above[k - 1], inputs.state_masks[k - 1]
            between = inputs.between[k - 1]
            below = new[0] if between is None else new[0] * between[:, t]
            projected = affine(below, _there(own.W), own.b, weights.packed)
        new = (*STEPS[recurrence.cell](projected, previous, own, mask), *new)
    return new


def _readout(made: tuple[Tensor, Tensor]) -> tuple[Tensor, State, None, Tensor]:
    """Readouts and alpha in the order of `Outputs`."""
    return made[0], (), None, made[1]


def step(
    recurrence: Recurrence,
    projected: Tensor,
    weights: Weights,
    state: State,
    source: Source | None = None,
    state_mask: Tensor | None = None,
) -> Outputs:
    """One step, of a recurrence that does not attend to the source, or of deep fusion; see `ops.step`."""
    if recurrence.past is None:
        assert recurrence.source is None, "a decoder asks the source by its attention layer"
        state = STEPS[recurrence.cell](projected, state, weights, state_mask)
        return Outputs(state[0], state)
    assert weights.past is not None
    span, matrix, scoring = recurrence.past.span, *weights.past
    output = "plain" if recurrence.cell == "lstm-plain" else "tanh"
    if source is not None:
        state, (p, alpha) = deep_fusion_step(
            projected, state, _source_tape(source), _fusion(weights), output, span, state_mask
        )
        return Outputs(state[0], state, alpha, p)
    if recurrence.has_memory:
        state, alpha = lstmn_step(
            projected, state, weights.U, _there(matrix), scoring, output, span, state_mask
        )
    elif recurrence.past.asks == "last read":
        state, alpha = read_step(projected, state, weights.U, _there(matrix), scoring, span, state_mask)
    else:
        state, alpha = sum_step(projected, state, weights.U, matrix, scoring, span, state_mask)
    return Outputs(state[0], state, alpha)


def _run_tape(recurrence: Recurrence, inputs: Inputs, weights: Weights, state: State) -> Outputs:
    assert recurrence.past is not None
    assert weights.past is not None
    x, W, b = inputs.x, _there(weights.W), _there(weights.b)
    mask = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device) if inputs.mask is None else inputs.mask
    options = (recurrence.past.span, inputs.reverse, inputs.state_mask)
    matrix, scoring = weights.past
    if recurrence.has_memory:
        output = "plain" if recurrence.cell == "lstm-plain" else "tanh"
        given = (x, mask, state, W, weights.U, b, _there(matrix), scoring, output, *options)
        return Outputs(*lstmn_sequence(*given))
    assert recurrence.cell == "rnn", f"there is no definition of a {recurrence.cell} that reads its own past"
    form = "read" if recurrence.past.asks == "last read" else "sum"
    return Outputs(
        *self_attentive_rnn_sequence(x, mask, state, W, weights.U, b, matrix, scoring, form, *options)
    )


def _run_fusion(recurrence: Recurrence, inputs: Inputs, weights: Weights, state: State) -> Outputs:
    assert inputs.source is not None
    assert recurrence.past is not None
    output = "plain" if recurrence.cell == "lstm-plain" else "tanh"
    states, (p, alpha) = deep_fusion(
        *(inputs.x, state, _source_tape(inputs.source), _fusion(weights), output),
        *(recurrence.past.span, inputs.state_mask),
    )
    return Outputs(states, (), alpha, p)


def _source_tape(source: Source) -> SourceTape:
    return SourceTape(source.keys, source.values, _there(source.memories), source.mask)


def _fusion(weights: Weights) -> Fusion:
    assert weights.past is not None
    assert weights.source is not None
    matrices = (weights.U, _there(weights.R), _there(weights.past.matrix), _there(weights.source.matrix))
    return Fusion(*matrices, weights.past.scoring, weights.source.scoring)
