"""The long short-term memory-network (Cheng, Dong & Lapata 2016): an LSTM that attends to its past states.

Where the LSTM takes h_{t−1} and c_{t−1}, the LSTMN takes s_t = Σ α_i h_i and c′_t = Σ α_i c_i over i < t, with one
alpha for both. (A scoring that projects its values, as qkv does, reads s_t = Σ α_i W_V h_i and the unprojected
memories; as they share alpha, it has one head.) The blocks of rows in W are input gate, forget gate, candidate, output
gate, and then P, the input's matrix in the query. At the first word the tape is empty: s_1 = 0 and c′_1 = 0; an initial
state is the tape's first slot.
"""

import torch
from torch import Tensor

from regard.ops.record import Equation, record, scope
from regard.ops.shapes import Bool, Float
from regard.ops.tape import Scoring, cut, extend, kept, read_tape
from regard.ops.unroll import State, unroll_attending

OUTPUTS = ("tanh", "plain")
"""h_t = o ∘ tanh(c_t), as in the paper, or o ∘ c_t, as in the lectures."""

EQUATIONS = {
    "query": Equation("q_t = W_x x_t + W_h̃ h̃_{t−1}", "q_t = W_x x_t + W_s s_{t−1}"),
    "summary": Equation("h̃_t = Σ_i s^t_i h_i", "s_t = Σ_{i<t} α_i h_i"),
    "recalled": Equation("c̃_t = Σ_i s^t_i c_i", "c′_t = Σ_{i<t} α_i c_i"),
    "input_gate": Equation("i_t = σ(W_i x_t + U_i h̃_t + b_i)", "i_t = σ(W_i x_t + U_i s_t + b_i)"),
    "forget_gate": Equation("f_t = σ(W_f x_t + U_f h̃_t + b_f)", "f_t = σ(W_f x_t + U_f s_t + b_f)"),
    "candidate": Equation("ĉ_t = tanh(W_c x_t + U_c h̃_t + b_c)", "c̃_t = tanh(W_c x_t + U_c s_t + b_c)"),
    "output_gate": Equation("o_t = σ(W_o x_t + U_o h̃_t + b_o)", "o_t = σ(W_o x_t + U_o s_t + b_o)"),
    "memory": Equation("c_t = f_t ∘ c̃_t + i_t ∘ ĉ_t", "c_t = f_t ∘ c′_t + i_t ∘ c̃_t"),
    "tanh": Equation("h_t = o_t ∘ tanh(c_t)"),
    "plain": Equation("h_t = o_t ∘ c_t"),
}
"""The paper's h̃, c̃ and ĉ are the slides' s, c′ and c̃; of the last two, one is the state."""


def lstmn_step(
    projected: Float[Tensor, "B gnp"],
    previous_state: State,
    U: Float[Tensor, "gn n"],
    S: Float[Tensor, "p n"],
    scoring: Scoring,
    output: str = "tanh",
    span: int = 0,
    state_mask: Float[Tensor, "B n"] | None = None,
    real: Bool[Tensor, "B 1"] | None = None,
) -> tuple[State, Float[Tensor, "B t"]]:
    """One step of the LSTMN.

    Args:
        projected: [W x_t + b; P x_t].
        previous_state: (h_{t−1}, c_{t−1}, s_{t−1}, keys, values and memories of the tape, its mask).
        U: the matrices of s_t in the gates, stacked.
        S: the matrix of s_{t−1} in the query.
        scoring: how the query is compared with what was written.
        output: one of `OUTPUTS`.
        span: how many real slots the tape keeps; 0 for all.
        state_mask: variational dropout of s_t where it meets U; one mask for all steps.
        real: False where the position is padding, which leaves the state as it is and writes an empty slot.

    Returns:
        The state after the step, and alpha over the slots of the tape before it.
    """
    h, c, s, keys, values, memories, valid = previous_state
    gates, query = torch.split(projected, [U.shape[0], S.shape[0]], dim=-1)
    # a_i = vᵀ tanh(W_h h_i + W_x x_t + W_s s_{t−1}); s_t = Σ α_i h_i
    query = query + s @ S.T  # (B, p)
    with scope("past"):
        record(EQUATIONS, query=query)
    summary, alpha = read_tape(scoring, query, keys, values, valid)  # (B, n), (B, t)
    # c′_t = Σ α_i c_i
    recalled = torch.bmm(alpha.unsqueeze(1), memories).squeeze(1)  # (B, n)
    seen = summary if state_mask is None else summary * state_mask
    i, f, candidate, o = (gates + seen @ U.T).chunk(4, dim=-1)  # (B, n) each
    i, f, candidate, o = i.sigmoid(), f.sigmoid(), candidate.tanh(), o.sigmoid()
    record(EQUATIONS, summary=summary, recalled=recalled)
    record(EQUATIONS, input_gate=i, forget_gate=f, candidate=candidate, output_gate=o)
    # c_t = f_t ∘ c′_t + i_t ∘ c̃_t
    memory = f * recalled + i * candidate  # (B, n)
    # h_t = o_t ∘ tanh(c_t)
    hidden = o * (torch.tanh(memory) if output == "tanh" else memory)  # (B, n)
    record({**EQUATIONS, "state": EQUATIONS[output]}, memory=memory, state=hidden)
    written = hidden.unsqueeze(1)
    slots = scoring.keys(written)[:, 0], scoring.values(written)[:, 0], memory
    tapes = extend((keys, values, memories), valid, slots, real, span)
    return (kept(real, hidden, h), kept(real, memory, c), kept(real, summary, s), *tapes), alpha


def lstmn_sequence(
    inputs: Float[Tensor, "B T m"],
    mask: Bool[Tensor, "B T"],
    initial: State,
    W: Float[Tensor, "gnp m"],
    U: Float[Tensor, "gn n"],
    b: Float[Tensor, "gn"],
    S: Float[Tensor, "p n"],
    scoring: Scoring,
    output: str = "tanh",
    span: int = 0,
    reverse: bool = False,
    state_mask: Float[Tensor, "B n"] | None = None,
) -> tuple[Float[Tensor, "B T n"], State, Float[Tensor, "B T slots"]]:
    """The LSTMN over a padded batch; returns h at each word, the last state, and alpha."""

    def step(x: Tensor, previous_state: State, real: Tensor) -> tuple[State, Tensor]:
        gates, query = torch.split(W, [U.shape[0], S.shape[0]])
        projected = torch.cat([x @ gates.T + b, x @ query.T], dim=-1)  # (B, 4n + p)
        return lstmn_step(projected, previous_state, U, S, scoring, output, span, state_mask, real)

    initial = (*initial[:3], *cut(initial[3:-1], initial[-1], span))
    return unroll_attending(step, inputs, mask, initial, reverse)
