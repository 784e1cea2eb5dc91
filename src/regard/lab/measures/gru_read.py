"""The GRU that attends to its own past: the papers have none, so it is made here as their RNN and LSTM were.

In: as every cell of `regard.layers`. Out: likewise. In the place of h_{t−1} stands s_t = Σ_{i<t} α_i h_i.
"""

import torch
from torch import Tensor

from regard.layers import SelfAttentive
from regard.ops.gru import gru_step
from regard.ops.tape import Scoring, extend, kept, read_tape
from regard.ops.unroll import State, unroll_attending


def gru_read_step(
    projected: Tensor,
    previous_state: State,
    U: Tensor,
    S: Tensor,
    scoring: Scoring,
    span: int = 0,
    state_mask: Tensor | None = None,
    real: Tensor | None = None,
) -> tuple[State, Tensor]:
    """One step of a GRU over s_t = Σ_{i<t} α_i h_i in the place of h_{t−1}, α from x_t, s_{t−1} and h_i.

    The same exchange as in `ops.self_attentive_rnn.read_step`, and with the same arguments:

    Args:
        projected: [W x_t + b; P x_t], (B, 3n + p).
        previous_state: (h_{t−1}, s_{t−1}, keys and values of the tape, its mask).
        U: the matrices of s_t, stacked update, reset, candidate, (3n, n).
        S: the matrix of s_{t−1} in the query, (p, n).
        scoring: how the query is compared with what was written.
        span: how many real slots the tape keeps; 0 for all.
        state_mask: dropout of s_t where it meets U, (B, n).
        real: (B, 1), False where the position is padding.

    Returns:
        The state after the step, and alpha over the slots of the tape before it.
    """
    h, s, keys, values, valid = previous_state
    gates, query = torch.split(projected, [U.shape[0], S.shape[0]], dim=-1)
    summary, alpha = read_tape(scoring, query + s @ S.T, keys, values, valid)  # (B, n), (B, t)
    (hidden,) = gru_step(gates, (summary,), U, state_mask)  # (B, n)
    written = hidden.unsqueeze(1)
    slots = scoring.keys(written)[:, 0], scoring.values(written)[:, 0]
    tapes = extend((keys, values), valid, slots, real, span)
    return (kept(real, hidden, h), kept(real, summary, s), *tapes), alpha


class GRURead(SelfAttentive):
    """The GRU with the state before replaced by what it reads of its own past, as `RNNRead` replaces the RNN's."""

    num_gates = 3
    step_op = staticmethod(gru_read_step)

    def read(
        self,
        inputs: Tensor,
        mask: Tensor,
        initial: State,
        reverse: bool = False,
        state_mask: Tensor | None = None,
    ) -> tuple[Tensor, State, Tensor]:
        """As `sequence`, and alpha: a row for each word, a column for each slot in the order of writing."""
        assert self.S is not None, "it asks before its update"
        projected, S = self.project(inputs), self.S  # (B, T, 3n + p)

        def step(x: Tensor, state: State, real: Tensor) -> tuple[State, Tensor]:
            return gru_read_step(x, state, self.U, S, self.scoring, self.span, state_mask, real)

        return unroll_attending(step, projected, mask, initial, reverse)
