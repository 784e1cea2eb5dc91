"""The plain RNN with attention to its own past, in the three forms in which it is taught (after Cheng et al. 2016).

- ``read``: before the update. s_t = Σ_{i<t} α_i h_i, α from x_t, s_{t−1} and h_i; h_t = tanh(W x_t + U s_t + b).
- ``sum``: after it. h_t = tanh(W x_t + U s_{t−1} + b); s_t = Σ_{i≤t} α_i h_i, α from h_t and h_i; s_0 = 0.
- ``sum-keep``: as ``sum``, keeping the old state: h_t = tanh(W x_t + U [s_{t−1}; h_{t−1}] + b).

The lectures write one matrix A over the concatenation, and c_t where we write s_t: c is the LSTM's memory here. In
``read`` the rows of W are the state's and then P, the query's share. Attention over nothing is the zero vector; a state
that is given is the tape's first slot.
"""

import torch
from torch import Tensor

from regard.ops.record import Equation, record, scope
from regard.ops.shapes import Bool, Float
from regard.ops.tape import Scoring, cut, extend, kept, read_tape
from regard.ops.unroll import State, unroll_attending

FORMS = ("read", "sum", "sum-keep")

EQUATIONS = {
    "query": Equation("q_t = W_x x_t + W_h̃ h̃_{t−1}", "q_t = W_x x_t + W_s s_{t−1}"),
    "summary": Equation("h̃_t = Σ_{i<t} s^t_i h_i", "s_t = Σ_{i<t} α_i h_i"),
    "state": Equation("h_t = tanh(W x_t + U h̃_t + b)", "h_t = tanh(A · [x_t; s_t] + b)"),
}
SUM_EQUATIONS = {
    "state": Equation("h_t = tanh(W x_t + U h̃_{t−1} + b)", "h_t = tanh(A · [x_t; c_{t−1}] + b)"),
    "keeping": Equation(
        "h_t = tanh(W x_t + U [h̃_{t−1}; h_{t−1}] + b)", "h_t = tanh(A · [x_t; c_{t−1}; h_{t−1}] + b)"
    ),
    "query": Equation("q_t = W_a h_t"),
    "summary": Equation("h̃_t = Σ_{i≤t} s^t_i h_i", "c_t = Σ_{i≤t} α_i h_i"),
}
"""Of the forms ``sum`` and, with the other state, ``sum-keep``; the paper's h̃ is the second lecture's c."""


def read_step(
    projected: Float[Tensor, "B np"],
    previous_state: State,
    U: Float[Tensor, "n n"],
    S: Float[Tensor, "p n"],
    scoring: Scoring,
    span: int = 0,
    state_mask: Float[Tensor, "B n"] | None = None,
    real: Bool[Tensor, "B 1"] | None = None,
) -> tuple[State, Float[Tensor, "B t"]]:
    """One step of the form ``read``.

    Args:
        projected: [W x_t + b; P x_t].
        previous_state: (h_{t−1}, s_{t−1}, keys and values of the tape, its mask).
        U: the matrix of s_t.
        S: the matrix of s_{t−1} in the query.
        scoring: how the query is compared with what was written.
        span: how many real slots the tape keeps; 0 for all.
        state_mask: variational dropout of s_t where it meets U; one mask for all steps.
        real: False where the position is padding, which leaves the state as it is and writes an empty slot.

    Returns:
        The state after the step, and alpha over the slots of the tape before it.
    """
    h, s, keys, values, valid = previous_state
    inputs, query = torch.split(projected, [U.shape[0], S.shape[0]], dim=-1)
    # s_t = Σ_{i<t} α_i h_i, α from x_t, s_{t−1} and h_i
    query = query + s @ S.T  # (B, p)
    with scope("past"):
        record(EQUATIONS, query=query)
    summary, alpha = read_tape(scoring, query, keys, values, valid)  # (B, n), (B, t)
    seen = summary if state_mask is None else summary * state_mask
    # h_t = tanh(W x_t + U s_t + b)
    hidden = torch.tanh(inputs + seen @ U.T)  # (B, n)
    record(EQUATIONS, summary=summary, state=hidden)
    written = hidden.unsqueeze(1)
    slots = scoring.keys(written)[:, 0], scoring.values(written)[:, 0]
    tapes = extend((keys, values), valid, slots, real, span)
    state = (kept(real, hidden, h), kept(real, summary, s), *tapes)
    return state, alpha


def sum_step(
    projected: Float[Tensor, "B n"],
    previous_state: State,
    U: Float[Tensor, "n nk"],
    S: Float[Tensor, "p n"] | None,
    scoring: Scoring,
    span: int = 0,
    state_mask: Float[Tensor, "B n"] | None = None,
    real: Bool[Tensor, "B 1"] | None = None,
) -> tuple[State, Float[Tensor, "B t"]]:
    """One step of the form ``sum``, or of ``sum-keep`` where U is 2n wide.

    Args:
        projected: W x_t + b.
        previous_state: (h_{t−1}, s_{t−1}, keys and values of the tape, its mask).
        U: the matrix of s_{t−1}, or of [s_{t−1}; h_{t−1}].
        S: the matrix of h_t in the query; None where the query is h_t itself.
        scoring: how the query is compared with what was written.
        span: how many real slots the tape keeps, this step's own among them; 0 for all.
        state_mask: variational dropout of s_{t−1} and h_{t−1} where they meet U; one mask for both and all steps.
        real: False where the position is padding, which leaves the state as it is and writes an empty slot.

    Returns:
        The state after the step, and alpha over the slots of the tape after it.
    """
    h, s, keys, values, valid = previous_state
    recurrent: State = (s, h) if U.shape[1] > U.shape[0] else (s,)
    if state_mask is not None:
        recurrent = tuple(part * state_mask for part in recurrent)
    # h_t = tanh(W x_t + U s_{t−1} + b)
    hidden = torch.tanh(projected + torch.cat(recurrent, dim=-1) @ U.T)  # (B, n)
    equation = SUM_EQUATIONS["keeping" if len(recurrent) > 1 else "state"]
    record({"state": equation}, state=hidden)
    written = hidden.unsqueeze(1)
    slots = scoring.keys(written)[:, 0], scoring.values(written)[:, 0]
    keys, values, valid = extend((keys, values), valid, slots, real, span)
    # s_t = Σ_{i≤t} α_i h_i, α from h_t and h_i
    query = hidden if S is None else hidden @ S.T
    if S is not None:
        with scope("past"):
            record(SUM_EQUATIONS, query=query)
    summary, alpha = read_tape(scoring, query, keys, values, valid)  # (B, n), (B, t)
    record(SUM_EQUATIONS, summary=summary)
    return (kept(real, hidden, h), kept(real, summary, s), keys, values, valid), alpha


def self_attentive_rnn_sequence(
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: State,
    W: Float[Tensor, "np m"],
    U: Float[Tensor, "n nk"],
    b: Float[Tensor, "n"],
    S: Float[Tensor, "p n"] | None,
    scoring: Scoring,
    form: str,
    span: int = 0,
    reverse: bool = False,
    state_mask: Float[Tensor, "B n"] | None = None,
) -> tuple[Float[Tensor, "B T n"], State, Float[Tensor, "B T slots"]]:
    """One of `FORMS` over a padded batch; returns h at each word, the last state, and alpha."""
    n = U.shape[0]

    def step(x: Tensor, previous_state: State, real: Tensor) -> tuple[State, Tensor]:
        projected = x @ W[:n].T + b  # (B, n)
        if form != "read":
            return sum_step(projected, previous_state, U, S, scoring, span, state_mask, real)
        assert S is not None, "the form 'read' has a query from s_{t−1}"
        projected = torch.cat([projected, x @ W[n:].T], dim=-1)  # (B, n + p)
        return read_step(projected, previous_state, U, S, scoring, span, state_mask, real)

    initial = (*initial[:2], *cut(initial[2:-1], initial[-1], span))
    return unroll_attending(step, inputs, mask, initial, reverse, own=form != "read")
