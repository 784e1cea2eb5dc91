"""Readouts: from a decoder's state to logits, through maxout or Luong's attentional state; and a classifier's head.

A readout has two halves, so that training can compute the second for real words only: the readout layer gives the
vector that the output matrix multiplies, and `Output` is that matrix. It can be tied to the target embedding.
"""

import torch
from torch import Tensor, nn

from regard.ops.affine import affine
from regard.ops.maxout import maxout
from regard.ops.native import pack, packed_of
from regard.ops.shapes import Float, Int


class Output(nn.Module):
    """The output matrix: logits = W_o t + b_o (Bahdanau et al. 2015, A.2.2), (…, l) → (…, Vy).

    Args:
        readout_size: l, the width of its input.
        vocabulary_size: Vy, the number of logits.
        tied: the embedding matrix (Vy, m) to share, with m = readout_size, or None.
    """

    def __init__(self, readout_size: int, vocabulary_size: int, tied: nn.Parameter | None = None) -> None:
        super().__init__()
        self.W_o = tied if tied is not None else nn.Parameter(torch.empty(vocabulary_size, readout_size))
        self.b_o = nn.Parameter(torch.zeros(vocabulary_size))
        if tied is None:
            nn.init.xavier_uniform_(self.W_o)

    def forward(self, readout: Float[Tensor, "*rows l"]) -> Float[Tensor, "*rows Vy"]:
        """W_o t + b_o."""
        return affine(readout, self.W_o, self.b_o)

    def restricted(self, ids: Int[Tensor, "S"]) -> "Output":
        """The same matrix with the rows `ids` only, for decoding with a shortlist; packed if this one is."""
        rows = nn.Parameter(self.W_o.detach().index_select(0, ids), requires_grad=False)
        short = Output(rows.shape[1], rows.shape[0], rows)
        short.b_o = nn.Parameter(self.b_o.detach().index_select(0, ids), requires_grad=False)
        packed = packed_of(self.W_o)
        if packed is not None:
            pack(rows, packed.precision)
        return short


class MaxoutReadout(nn.Module):
    """t̃_i = U_o s_i + V_o E y_{i−1} + C_o c_i, then maxout (Bahdanau et al. 2015, A.2.2).

    A.2.2 prints s_{i−1}, but Eq. 4 conditions word i on s_i, and s_{i−1} would keep c_i and y_{i−1} from
    passing through the recurrence before word i is chosen; so this takes s_i, as the authors' own code does.

        readout = MaxoutReadout(n, m, d, l)(state, embedded, context)

    state (…, n), embedded (…, m), context (…, d); readout (…, l).

    Args:
        state_size: n.
        embedding_size: m.
        context_size: d.
        readout_size: l, the maxout units; each is the larger of two.
    """

    def __init__(self, state_size: int, embedding_size: int, context_size: int, readout_size: int) -> None:
        super().__init__()
        self.U_o = nn.Linear(state_size, 2 * readout_size)
        self.V_o = nn.Linear(embedding_size, 2 * readout_size, bias=False)
        self.C_o = nn.Linear(context_size, 2 * readout_size, bias=False)
        for part in (self.U_o, self.V_o, self.C_o):
            nn.init.xavier_uniform_(part.weight)
        nn.init.zeros_(self.U_o.bias)

    def forward(
        self,
        state: Float[Tensor, "*rows n"],
        embedded: Float[Tensor, "*rows m"],
        context: Float[Tensor, "*rows d"],
    ) -> Float[Tensor, "*rows l"]:
        """s_i, E y_{i−1} and c_i → t_i."""
        parts = ((state, self.U_o), (embedded, self.V_o), (context, self.C_o))
        s, y, c = (affine(x, layer.weight, layer.bias) for x, layer in parts)
        return maxout(s + y + c)


class AttentionalReadout(nn.Module):
    """The attentional state h̃_t = tanh(W_c [c_t; h_t]) (Luong et al. 2015, Eq. 5).

        attentional_state = AttentionalReadout(n, d, l)(state, context)

    state (…, n), context (…, d); attentional state (…, l).

    Args:
        state_size: n.
        context_size: d.
        readout_size: l.
    """

    def __init__(self, state_size: int, context_size: int, readout_size: int) -> None:
        super().__init__()
        self.W_c = nn.Linear(context_size + state_size, readout_size, bias=False)
        nn.init.xavier_uniform_(self.W_c.weight)

    def forward(
        self, state: Float[Tensor, "*rows n"], context: Float[Tensor, "*rows d"]
    ) -> Float[Tensor, "*rows l"]:
        """h_t and c_t → h̃_t."""
        return torch.tanh(affine(torch.cat([context, state], dim=-1), self.W_c.weight))


class Head(nn.Module):
    """A classifier's head: logits = V tanh(W x + b) + c, or V x + c without a hidden layer; x (B, d) → (B, labels).

    Args:
        input_size: d.
        num_labels: the number of logits.
        hidden_size: the hidden layer's units; 0 for no hidden layer.
        dropout: on x, and on the hidden layer.
    """

    def __init__(self, input_size: int, num_labels: int, hidden_size: int = 0, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.hidden = nn.Linear(input_size, hidden_size) if hidden_size else None
        self.output = nn.Linear(hidden_size or input_size, num_labels)
        for layer in (self.hidden, self.output):
            if layer is not None:
                nn.init.xavier_uniform_(layer.weight)
                nn.init.zeros_(layer.bias)

    def forward(self, x: Float[Tensor, "B d"]) -> Float[Tensor, "B labels"]:
        """One logit per label."""
        x = self.dropout(x)
        if self.hidden is not None:
            x = self.dropout(self.hidden(x).tanh())
        logits: Tensor = self.output(x)
        return logits
