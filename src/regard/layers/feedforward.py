"""The layers without recurrence: embedding, dropout, pooling, readouts and a classifier's head.

`Dropout` samples its masks before a loop over time starts, so that a step is a pure function of its arguments. A mask
multiplies: 0 where a unit is dropped, 1/(1 − p) where it is kept; None means that nothing is dropped.

A pooling makes one vector (B, d) of the annotations (B, T, d) of a sentence. A readout has two halves, so that training
can compute the second for real words only: the readout layer gives the vector that the output matrix multiplies, and
`Output` is that matrix. It can be tied to the target embedding.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.ops.affine import affine
from regard.ops.attention import additive_energies, attend
from regard.ops.maxout import maxout
from regard.ops.native import PackedWeights
from regard.ops.record import Equation, record
from regard.ops.shapes import Bool, Float, Int
from regard.ops.word_loss import word_loss

EQUATIONS = {
    "embedded": Equation("E y_{t−1}"),
    "energies": Equation("e_j = v_aᵀ tanh(q + U_a h_j)", axis="source"),
    "alpha": Equation("α_j = softmax_j(e_j)", axis="source"),
    "pooled": Equation("v = Σ_j α_j h_j"),
    "mean": Equation("v = (1/T) Σ_j h_j"),
    "max": Equation("v = max_j h_j"),
    "share": Equation("α_j = the share of units of v that are h_j's", axis="source"),
    "last": Equation("v = h_T"),
    "hidden": Equation("g = tanh(W v + b)"),
    "logits": Equation("o_t = W_o ⟨readout⟩ + b_o", "o_t = c + V ⟨readout⟩", "words"),
    "unbiased": Equation("o_t = W_o ⟨readout⟩", "o_t = V ⟨readout⟩", "words"),
    "readout_pairs": Equation("t̃_t = U_o s_t + V_o E y_{t−1} + C_o c_t + b"),
    "readout": Equation("t_t = [max(t̃_{t,2k−1}, t̃_{t,2k})]_k"),
    "attentional_state": Equation("h̃_t = tanh(W_c [c_t; s_t])"),
}
"""Of the layers here, by part."""


class Embedding(nn.Module):
    """The embedding matrix E (Bahdanau et al. 2015, A.2.1), stored (V, m); the paper stores it transposed.

        embedded = Embedding(V, m)(ids)       # ids (B, T), embedded (B, T, m)

    Args:
        vocabulary_size: V.
        size: m.
        shared: another embedding's matrix to share, or None.
    """

    def __init__(self, vocabulary_size: int, size: int, shared: nn.Parameter | None = None) -> None:
        super().__init__()
        self.E = shared if shared is not None else nn.Parameter(torch.empty(vocabulary_size, size))
        if shared is None:
            nn.init.normal_(self.E, std=size**-0.5)

    def forward(self, ids: Int[Tensor, "*rows"]) -> Float[Tensor, "*rows m"]:
        """E y for each id."""
        embedded = nn.functional.embedding(ids, self.E)
        record(EQUATIONS, embedded=embedded)
        return embedded


class Standardize(nn.Module):
    """(x − mean) / scale, feature by feature; the identity before `fit`.

    Mean and scale are buffers: `fit` measures them once on the training set, and they are saved with the model, which
    then takes raw features (B, f).

    Args:
        size: f, the number of features.

    Attributes:
        mean: (f,).
        scale: (f,), the standard deviation; 1 for a constant feature, which is then only centred.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("scale", torch.ones(size))

    def fit(self, features: Float[Tensor, "N f"]) -> None:
        """Measure mean and scale on the rows of a training set.

        A feature that varies only by rounding errors counts as constant: dividing by its deviation would amplify them.
        """
        exact = features.double()
        deviation, mean = torch.std_mean(exact, dim=0, correction=0)  # (f,)
        rounding = torch.finfo(torch.float32).eps * exact.abs().amax(dim=0)
        self.mean.copy_(mean)
        self.scale.copy_(torch.where(deviation > rounding, deviation, 1.0))

    def forward(self, features: Float[Tensor, "B f"]) -> Float[Tensor, "B f"]:
        """Raw features, standardised."""
        return (features - self.mean) / self.scale


class Dropout(nn.Module):
    """Dropout for activations (B, T, d): a new mask per word (Srivastava et al. 2014), or one per sentence.

    Args:
        p: the probability that a unit is dropped in training.
        variational: one mask for all words of a sentence (Gal & Ghahramani 2016).
    """

    def __init__(self, p: float, variational: bool = False) -> None:
        super().__init__()
        self.p = p
        self.variational = variational

    def sample_mask(self, batch: int, num_steps: int, size: int, like: Tensor) -> Tensor | None:
        """A mask (B, T, d), or None if nothing is dropped."""
        if not self.training or self.p == 0:
            return None
        steps = 1 if self.variational else num_steps
        keep = torch.empty(batch, steps, size, dtype=like.dtype, device=like.device)
        keep.bernoulli_(1 - self.p).div_(1 - self.p)
        return keep.expand(batch, num_steps, size)

    def forward(self, x: Tensor) -> Tensor:
        """Drop units of x (B, T, d) in training; return x itself in evaluation."""
        batch, num_steps, size = x.shape
        mask = self.sample_mask(batch, num_steps, size, x)
        return x if mask is None else x * mask

    def extra_repr(self) -> str:
        """For `print(model)`."""
        return f"p={self.p}, variational={self.variational}"


class Pooled(NamedTuple):
    """The result of pooling.

    Attributes:
        vector: (B, d).
        alpha: (B, T), what each word has of the vector, summing to 1 over the real words of a row; None for a pooling
            that treats words alike, or reads no more than the last state.
    """

    vector: Tensor
    alpha: Tensor | None


def _full_mask(annotations: Tensor) -> Tensor:
    return torch.ones(annotations.shape[:2], dtype=torch.bool, device=annotations.device)


class LastPooling(nn.Module):
    """The encoder's last state `last` (B, d): h_T, or [→h_T; ←h_1] of a bidirectional encoder."""

    def forward(
        self,
        annotations: Float[Tensor, "B T d"],
        mask: Bool[Tensor, "B T"] | None = None,
        last: Float[Tensor, "B d"] | None = None,
    ) -> Pooled:
        """The last state as it is, without alpha.

        Raises:
            ConfigError: `last` is missing.
        """
        if last is None:
            raise ConfigError("LastPooling: give the encoder's last state (B, d) as last=…")
        record(EQUATIONS, last=last)
        return Pooled(last, None)


class MeanPooling(nn.Module):
    """The mean of the annotations of real words: Σ_j h_j / T, (B, T, d) → (B, d)."""

    def forward(
        self,
        annotations: Float[Tensor, "B T d"],
        mask: Bool[Tensor, "B T"] | None = None,
        last: Float[Tensor, "B d"] | None = None,
    ) -> Pooled:
        """The mean over the real words of each row (all words if `mask` is None), without alpha."""
        mask = _full_mask(annotations) if mask is None else mask
        real = torch.where(mask.unsqueeze(-1), annotations, 0.0)
        mean = real.sum(dim=1) / mask.sum(dim=1, keepdim=True)  # (B, d)
        record(EQUATIONS, mean=mean)
        return Pooled(mean, None)


class MaxPooling(nn.Module):
    """The largest value of each unit over the real words: v_k = max_j h_jk, (B, T, d) → (B, d).

    The max pooling of Conneau et al. 2017 (InferSent). alpha counts, as they do to show what the vector is made of, at
    which words the units are largest.
    """

    def forward(
        self,
        annotations: Float[Tensor, "B T d"],
        mask: Bool[Tensor, "B T"] | None = None,
        last: Float[Tensor, "B d"] | None = None,
    ) -> Pooled:
        """The maximum over the real words of each row (all words if `mask` is None), and its shares alpha."""
        mask = _full_mask(annotations) if mask is None else mask
        largest, where = annotations.masked_fill(~mask.unsqueeze(-1), float("-inf")).max(dim=1)  # (B, d) each
        # in bfloat16, 256 + 1 is 256
        counts = torch.zeros_like(mask, dtype=torch.promote_types(annotations.dtype, torch.float32))
        counts = counts.scatter_add(1, where, torch.ones_like(largest, dtype=counts.dtype))
        alpha = (counts / largest.shape[1]).to(annotations.dtype)  # (B, T)
        record(EQUATIONS, max=largest, share=alpha)
        return Pooled(largest, alpha)


class AttentionPooling(nn.Module):
    """α_j = softmax_j v_aᵀ tanh(q + U_a h_j), then Σ_j α_j h_j, with one trained query q for all sentences.

    The word attention of Yang et al. 2016 (§2.2, Eqs. 5–7): their b_w is our q, their u_w our v_a. Annotations
    (B, T, d) → a vector (B, d) and alpha (B, T).

    Args:
        annotation_size: d.
        size: a, the alignment units.
    """

    def __init__(self, annotation_size: int, size: int) -> None:
        super().__init__()
        self.q = nn.Parameter(torch.zeros(size))
        self.U_a = nn.Parameter(nn.init.xavier_uniform_(torch.empty(size, annotation_size)))
        self.v_a = nn.Parameter(torch.empty(size).uniform_(-(size**-0.5), size**-0.5))

    def forward(
        self,
        annotations: Float[Tensor, "B T d"],
        mask: Bool[Tensor, "B T"] | None = None,
        last: Float[Tensor, "B d"] | None = None,
    ) -> Pooled:
        """The weighted mean over the real words of each row (all words if `mask` is None), and alpha."""
        mask = _full_mask(annotations) if mask is None else mask
        query = self.q.expand(annotations.shape[0], 1, -1)  # (B, 1, a)
        energies = additive_energies(query, annotations @ self.U_a.T, self.v_a)  # (B, 1, T)
        context, alpha = attend(energies, annotations, mask)
        record(EQUATIONS, energies=energies, alpha=alpha, pooled=context)
        return Pooled(context.squeeze(1), alpha.squeeze(1))


POOLINGS: dict[str, Callable[[int, int], nn.Module]] = {
    "last": lambda annotation_size, size: LastPooling(),
    "mean": lambda annotation_size, size: MeanPooling(),
    "max": lambda annotation_size, size: MaxPooling(),
    "attention": AttentionPooling,
}
"""(annotation size, alignment units) → the layer, by name."""


class Output(nn.Module):
    """The output matrix: logits = W_o t + b_o (Bahdanau et al. 2015, A.2.2), (…, l) → (…, Vy).

    Args:
        readout_size: l, the width of its input.
        vocabulary_size: Vy, the number of logits.
        tied: the embedding matrix (Vy, m) to share, with m = readout_size, or None.
        bias: whether b_o is trained; if not, it is zero and no parameter.

    Attributes:
        packed: W_o as it was packed for decoding; None in training. Other layers have theirs, too.
    """

    packed: PackedWeights | None = None
    b_o: Tensor

    def __init__(
        self,
        readout_size: int,
        vocabulary_size: int,
        tied: nn.Parameter | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.W_o = tied if tied is not None else nn.Parameter(torch.empty(vocabulary_size, readout_size))
        if bias:
            self.b_o = nn.Parameter(torch.zeros(vocabulary_size))
        else:
            self.register_buffer("b_o", torch.zeros(vocabulary_size), persistent=False)
        if tied is None:
            nn.init.xavier_uniform_(self.W_o)

    def forward(self, readout: Float[Tensor, "*rows l"]) -> Float[Tensor, "*rows Vy"]:
        """W_o t + b_o."""
        logits = affine(readout, self.W_o, self.b_o, self.packed)
        biased = isinstance(self.b_o, nn.Parameter)
        record({"logits": EQUATIONS["logits" if biased else "unbiased"]}, logits=logits)
        return logits

    def loss(
        self, readout: Float[Tensor, "N l"], targets: Int[Tensor, "N"], smoothing: float = 0.0
    ) -> Float[Tensor, ""]:
        """Σ −log p(y_n) over N words, without storing their logits: a vocabulary is large.

        Args:
            readout: the input of the layer, without padding.
            targets: the correct words.
            smoothing: ε of label smoothing, the probability mass spread over all Vy.
        """
        return word_loss(readout, targets, self.W_o, self.b_o, smoothing)

    def restricted(self, ids: Int[Tensor, "S"]) -> "Output":
        """The same matrix with the rows `ids` only, for decoding with a shortlist; packed if this one is."""
        rows = nn.Parameter(self.W_o.detach().index_select(0, ids), requires_grad=False)
        short = Output(rows.shape[1], rows.shape[0], rows)
        short.b_o = nn.Parameter(self.b_o.detach().index_select(0, ids), requires_grad=False)
        packed = None if self.packed is None else self.packed.of(self.W_o)
        if packed is not None:
            short.packed = PackedWeights()
            short.packed.pack(rows, packed.precision)
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

    packed: PackedWeights | None = None

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
        s, y, c = (affine(x, layer.weight, layer.bias, self.packed) for x, layer in parts)
        pairs = s + y + c  # (…, 2l)
        readout = maxout(pairs)
        record(EQUATIONS, readout_pairs=pairs, readout=readout)
        return readout


class StateReadout(nn.Module):
    """t_i = s_i, so that p(y_i) = softmax(c + V s_i), V and c being the output matrix and its bias (lecture 4).

    What the state does not hold of y_{i−1} and c_i, word i cannot depend on. Arguments as for `MaxoutReadout`; the
    readout is as wide as the state, (…, n).
    """

    def forward(
        self,
        state: Float[Tensor, "*rows n"],
        embedded: Float[Tensor, "*rows m"],
        context: Float[Tensor, "*rows d"],
    ) -> Float[Tensor, "*rows n"]:
        """s_i as it is."""
        return state


READOUTS: dict[str, Callable[[int, int, int, int], nn.Module]] = {
    "maxout": MaxoutReadout,
    "state": lambda state_size, embedding_size, context_size, readout_size: StateReadout(),
}
"""(n, m, width of the context, l) → the readout of RNNsearch and of Cho's decoder, by name."""


class AttentionalReadout(nn.Module):
    """The attentional state h̃_t = tanh(W_c [c_t; h_t]) (Luong et al. 2015, Eq. 5).

        attentional_state = AttentionalReadout(n, d, l)(state, context)

    state (…, n), context (…, d); attentional state (…, l).

    Args:
        state_size: n.
        context_size: d.
        readout_size: l.
    """

    packed: PackedWeights | None = None

    def __init__(self, state_size: int, context_size: int, readout_size: int) -> None:
        super().__init__()
        self.W_c = nn.Linear(context_size + state_size, readout_size, bias=False)
        nn.init.xavier_uniform_(self.W_c.weight)

    def forward(
        self, state: Float[Tensor, "*rows n"], context: Float[Tensor, "*rows d"]
    ) -> Float[Tensor, "*rows l"]:
        """h_t and c_t → h̃_t."""
        attentional_state = torch.tanh(
            affine(torch.cat([context, state], dim=-1), self.W_c.weight, packed=self.packed)
        )
        record(EQUATIONS, attentional_state=attentional_state)
        return attentional_state


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
            record(EQUATIONS, hidden=x)
        logits: Tensor = self.output(x)
        record(EQUATIONS, logits=logits)
        return logits
