"""Deep fusion (Cheng, Dong & Lapata 2016, Eqs. 11–16): an LSTMN that reads the source's two tapes and its own.

In addition to its own past, each step reads γ̃_t = Σ p_j γ_j and α̃_t = Σ p_j α_j from the source's hidden states γ_j
and memories α_j, with one p for both, and a gate r_t adds α̃_t to the memory. (A scoring that projects its values, as
qkv does, reads W_V γ_j and the unprojected memories; as they share p, it has one head.) The blocks of rows in W are
input gate, forget gate, candidate, output gate, r, then P, the input's matrix in the query to the own past, and then
that in the query to the source. Unlike in the authors' code, padding is never read.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from regard.ops.lstmn.naive import EQUATIONS as LSTMN_EQUATIONS
from regard.ops.record import Equation, record, scope
from regard.ops.shapes import Float
from regard.ops.tape import Scoring, cut, extend, kept, read_tape
from regard.ops.unroll import State

EQUATIONS = {
    **LSTMN_EQUATIONS,
    "source_query": Equation("q′_t = W_x x_t + W_γ γ̃_{t−1}"),
    "alpha": Equation("p^t_j = softmax_j(b^t_j)", axis="source"),
    "reading": Equation("γ̃_t = Σ_j p^t_j γ_j"),
    "fetched": Equation("α̃_t = Σ_j p^t_j α_j"),
    "fusion_gate": Equation("r_t = σ(W_r · [γ̃_t; x_t] + b_r)"),
    "memory": Equation("c_t = r_t ∘ α̃_t + f_t ∘ c̃_t + i_t ∘ ĉ_t", "c_t = r_t ∘ α̃_t + f_t ∘ c′_t + i_t ∘ c̃_t"),
}
"""The lectures do not write deep fusion: its own parts have the paper's letters everywhere."""


class SourceTape(NamedTuple):
    """The tapes of the source.

    Attributes:
        keys: what queries are compared with, (B, Tx, q).
        values: γ_j, (B, Tx, n).
        memories: the source's c_j, the paper's α_j, (B, Tx, n).
        mask: True at real words, (B, Tx).
    """

    keys: Tensor
    values: Tensor
    memories: Tensor
    mask: Tensor


class Fusion(NamedTuple):
    """The recurrent matrices, and the scorings of both tapes.

    Attributes:
        U: of s_t in the gates, stacked, (4n, n).
        R: of γ̃_t in the gate r, (n, n).
        S: of s_{t−1} in the query to the own past, (p, n).
        S_source: of γ̃_{t−1} in the query to the source, (q, n).
        scoring: of the own past.
        source_scoring: of the source.
    """

    U: Tensor
    R: Tensor
    S: Tensor
    S_source: Tensor
    scoring: Scoring
    source_scoring: Scoring


class Alphas(NamedTuple):
    """The attention of a step, or of all steps.

    Attributes:
        source: p, over the source's words.
        own: alpha over the own past.
    """

    source: Tensor
    own: Tensor


def deep_fusion_step(
    projected: Float[Tensor, "R gnpq"],
    previous_state: State,
    source: SourceTape,
    fusion: Fusion,
    output: str = "tanh",
    span: int = 0,
    state_mask: Float[Tensor, "R n"] | None = None,
) -> tuple[State, Alphas]:
    """One step of R rows: the K hypotheses of each of B sentences share one copy of the source.

    Args:
        projected: [W x_t + b; P x_t; P′ x_t].
        previous_state: (h_{t−1}, c_{t−1}, s_{t−1}, γ̃_{t−1}, keys, values and memories of the own tape, its mask).
        source: B rows.
        fusion: matrices and energies.
        output: one of `ops.lstmn.OUTPUTS`.
        span: how many real slots the own tape keeps; 0 for all.
        state_mask: variational dropout of s_t and γ̃_t where they meet the gates; one mask for both and all steps.
    """
    h, c, s, previous_reading, keys, values, memories, valid = previous_state
    U, R, S, S_source, scoring, source_scoring = fusion
    sizes = [U.shape[0], R.shape[0], S.shape[0], S_source.shape[0]]
    gates, fused_gate, query, source_query = torch.split(projected, sizes, dim=-1)
    # the own past, as in the LSTMN
    query = query + s @ S.T  # (R, p)
    with scope("past"):
        record(EQUATIONS, query=query)
    summary, alpha = read_tape(scoring, query, keys, values, valid)  # (R, n), (R, t)
    recalled = torch.bmm(alpha.unsqueeze(1), memories).squeeze(1)  # (R, n)
    # Eqs. 11–13: b_j = uᵀ tanh(W_γ γ_j + W_x x_t + W_γ̃ γ̃_{t−1}); γ̃_t = Σ p_j γ_j; α̃_t = Σ p_j α_j
    asked = (source_query + previous_reading @ S_source.T).view(
        source.mask.shape[0], -1, S_source.shape[0]
    )  # (B, K, q)
    record(EQUATIONS, summary=summary, recalled=recalled, source_query=asked.flatten(0, 1))
    with scope("source"):
        rows, p = source_scoring.attend(asked, source.keys, source.values, source.mask)
        record(EQUATIONS, alpha=p.flatten(0, 1))
    reading, fetched = rows.flatten(0, 1), torch.bmm(p, source.memories).flatten(0, 1)  # (R, n) each
    seen, heard = (part if state_mask is None else part * state_mask for part in (summary, reading))
    i, f, candidate, o = (gates + seen @ U.T).chunk(4, dim=-1)  # (R, n) each
    i, f, candidate, o = i.sigmoid(), f.sigmoid(), candidate.tanh(), o.sigmoid()
    # Eq. 14: r_t = σ(W_r [γ̃_t; x_t])
    r = torch.sigmoid(fused_gate + heard @ R.T)  # (R, n)
    record(EQUATIONS, reading=reading, fetched=fetched, fusion_gate=r)
    record(EQUATIONS, input_gate=i, forget_gate=f, candidate=candidate, output_gate=o)
    # Eq. 15: c_t = r_t ∘ α̃_t + f_t ∘ c′_t + i_t ∘ c̃_t
    memory = r * fetched + f * recalled + i * candidate  # (R, n)
    # Eq. 16: h_t = o_t ∘ tanh(c_t)
    hidden = o * (torch.tanh(memory) if output == "tanh" else memory)  # (R, n)
    record({**EQUATIONS, "state": EQUATIONS[output]}, memory=memory, state=hidden)
    written = hidden.unsqueeze(1)
    slots = scoring.keys(written)[:, 0], scoring.values(written)[:, 0], memory
    tapes = extend((keys, values, memories), valid, slots, None, span)
    pairs = ((hidden, h), (memory, c), (summary, s), (reading, previous_reading))
    state = (*(kept(None, new, old) for new, old in pairs), *tapes)
    return state, Alphas(p.flatten(0, 1), alpha)


def deep_fusion(
    projected: Float[Tensor, "B Ty gnpq"],
    initial: State,
    source: SourceTape,
    fusion: Fusion,
    output: str = "tanh",
    span: int = 0,
    state_mask: Float[Tensor, "B n"] | None = None,
) -> tuple[Float[Tensor, "B Ty n"], Alphas]:
    """All steps of the decoder's recurrence; see `deep_fusion_step`.

    Returns:
        The states h_t, and both alphas: p (B, Ty, Tx), and alpha over the t0 + Ty slots of the own tape.
    """
    num_steps = projected.shape[1]
    state = (*initial[:4], *cut(initial[4:-1], initial[-1], span))
    num_first = state[-1].shape[1]
    states, ps, alphas = [], [], []
    for t in range(num_steps):
        state, (p, alpha) = deep_fusion_step(projected[:, t], state, source, fusion, output, span, state_mask)
        states.append(state[0])
        ps.append(p)
        before = num_first + t
        alphas.append(torch.nn.functional.pad(alpha, (before - alpha.shape[1], num_steps - t)))
    return torch.stack(states, 1), Alphas(torch.stack(ps, 1), torch.stack(alphas, 1))
