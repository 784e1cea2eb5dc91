"""What the functions to fill in must compute: random inputs in float64, and the naive ops' results for them.

`REFERENCES` has an entry for each function of each exercise: a function that makes inputs of a given size, and one that
computes from them the quantities for which an op exists, by name. The exercises have single vectors where the ops have
batches, so the references are batches of one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.ops.attending_gru.naive import attending_gru
from regard.ops.attention import attend, masked_softmax
from regard.ops.attention.additive.naive import additive_energies
from regard.ops.attention.bilinear.naive import bilinear_energies
from regard.ops.attention.concat.naive import concat_energies
from regard.ops.attention.dot.naive import dot_energies, scaled_dot_energies
from regard.ops.attention.query_key_value.naive import query_key_value
from regard.ops.gru.naive import gru_sequence, gru_step
from regard.ops.lstm.naive import lstm_sequence, lstm_step
from regard.ops.lstmn.naive import lstmn_step
from regard.ops.rnn.naive import rnn_sequence, rnn_step
from regard.ops.self_attentive_rnn.naive import read_step, self_attentive_rnn_sequence, sum_step
from regard.ops.tape import AdditiveScoring, DotScoring, read_tape
from regard.ops.word_loss.naive import word_loss
from regard.search.sampling import sample_words


class LSTMGates(NamedTuple):
    """A parameter of the LSTM, one part per gate; the order is that of the blocks in `ops/lstm`."""

    i: Tensor
    f: Tensor
    c: Tensor
    o: Tensor


class GRUGates(NamedTuple):
    """A parameter of the GRU, one part per gate; the order is that of the blocks in `ops/gru`."""

    z: Tensor
    r: Tensor
    s: Tensor


class Random:
    """Random inputs of a seed, in float64, of one of `SIZES`."""

    def __init__(self, seed: int, sizes: Mapping[str, int]) -> None:
        self._generator = torch.Generator().manual_seed(seed)
        self.sizes = sizes

    def normal(self, *shape: int) -> Tensor:
        """Normal numbers, small enough that no gate saturates."""
        return 0.7 * torch.randn(*shape, generator=self._generator, dtype=torch.float64)

    def uniform(self, count: int) -> Tensor:
        """Uniform from 0 to below 1."""
        return torch.rand(count, generator=self._generator, dtype=torch.float64)

    def words(self, count: int, size: int) -> Tensor:
        """The numbers of words."""
        return torch.randint(size, (count,), generator=self._generator)

    def inputs(self, shapes: str) -> dict[str, Any]:
        """Tensors by name: ``"x:m U:n,m"`` is a vector x (m,) and a matrix U (n, m).

        ``W:lstm:n,m`` has one matrix per gate.
        """
        inputs: dict[str, Any] = {}
        for each in shapes.split():
            name, *kind, letters = each.split(":")
            shape = [self.sizes[letter] for letter in letters.split(",")]
            gates = _GATES[kind[0]] if kind else None
            inputs[name] = (
                gates(*(self.normal(*shape) for _ in gates._fields)) if gates else self.normal(*shape)
            )
        return inputs


_GATES: dict[str, type[LSTMGates] | type[GRUGates]] = {"lstm": LSTMGates, "gru": GRUGates}


def _sizes(T: int, m: int, n: int, a: int, v: int) -> dict[str, int]:
    """Positions, input, state, alignment units, words; slots of a tape, annotations, and concatenations."""
    return {"T": T, "m": m, "n": n, "a": a, "v": v, "t": T - 1, "d": 2 * m, "n+n": 2 * n, "m+n": m + n}


SIZES = (_sizes(T=4, m=3, n=5, a=6, v=7), _sizes(T=7, m=4, n=2, a=3, v=5), _sizes(T=1, m=2, n=3, a=4, v=6))
"""The inputs that a function is called with; in the last, a sequence has one position and a tape none."""


@dataclass(frozen=True)
class Reference:
    """A function to fill in.

    Attributes:
        inputs: its arguments, by name: shapes as for `Random.inputs`, or a function that makes them.
        compute: the arguments → some of the quantities it returns, by name, computed by ops.
    """

    inputs: str | Callable[[Random], dict[str, Any]]
    compute: Callable[..., Mapping[str, Any]]

    def random_inputs(self, seed: int, sizes: Mapping[str, int]) -> dict[str, Any]:
        """Arguments of one of `SIZES`."""
        random = Random(seed, sizes)
        return random.inputs(self.inputs) if isinstance(self.inputs, str) else self.inputs(random)


def _real(rows: Tensor) -> Tensor:
    """The mask of a batch of one that has no padding."""
    return torch.ones(1, len(rows), dtype=torch.bool)


def _stack(gates: tuple[Tensor, ...]) -> Tensor:
    return torch.cat(gates)


def _softmax(energies: Tensor) -> Tensor:
    return masked_softmax(energies[None, None], _real(energies))[0, 0]


# rnn.py


def _rnn_step(
    x: Tensor, s: Tensor, U: Tensor, W: Tensor, b: Tensor, V: Tensor, c: Tensor
) -> dict[str, Tensor]:
    (new,) = rnn_step((U @ x + b)[None], (s[None],), W, "tanh")
    return {"new_s": new[0], "p": _softmax(c + V @ new[0])}


def _rnn(xs: Tensor, s0: Tensor, U: Tensor, W: Tensor, b: Tensor) -> dict[str, Tensor]:
    return {"states": rnn_sequence(xs[None], _real(xs), (s0[None],), U, W, b, "tanh")[0][0]}


def _sigmoid_step(x: Tensor, h: Tensor, W_hx: Tensor, W_hh: Tensor, W_yh: Tensor) -> dict[str, Tensor]:
    (new,) = rnn_step((W_hx @ x)[None], (h[None],), W_hh, "sigmoid")
    return {"new_h": new[0], "y": W_yh @ new[0]}


# lstm.py and gru.py


def _lstm_step(
    x: Tensor, h: Tensor, c: Tensor, W: LSTMGates, U: LSTMGates, b: LSTMGates
) -> dict[str, Tensor]:
    hidden, memory = lstm_step((_stack(W) @ x + _stack(b))[None], (h[None], c[None]), _stack(U))
    return {"new_c": memory[0], "new_h": hidden[0]}


def _lstm(xs: Tensor, h0: Tensor, c0: Tensor, W: LSTMGates, U: LSTMGates, b: LSTMGates) -> dict[str, Tensor]:
    initial = h0[None], c0[None]
    return {"states": lstm_sequence(xs[None], _real(xs), initial, _stack(W), _stack(U), _stack(b))[0][0]}


def _gru_step(x: Tensor, s: Tensor, W: GRUGates, U: GRUGates, b: GRUGates) -> dict[str, Tensor]:
    return {"new_s": gru_step((_stack(W) @ x + _stack(b))[None], (s[None],), _stack(U))[0][0]}


def _gru(xs: Tensor, s0: Tensor, W: GRUGates, U: GRUGates, b: GRUGates) -> dict[str, Tensor]:
    return {"states": gru_sequence(xs[None], _real(xs), (s0[None],), _stack(W), _stack(U), _stack(b))[0][0]}


# language_model.py


def _log_probability(logits: Tensor, words: Tensor) -> dict[str, Tensor]:
    v = logits.shape[1]
    loss = word_loss(logits, words, torch.eye(v, dtype=logits.dtype), logits.new_zeros(v))
    return {"total": -loss}


def _sample_word(logits: Tensor, u: float, temperature: float) -> dict[str, Any]:
    p = _softmax(logits / temperature)
    (word,), _ = sample_words(p[None], torch.arange(len(p))[None], [u])
    return {"p": p, "word": word}


def _sentence_inputs(random: Random) -> dict[str, Any]:
    weights = random.inputs("last:v,v before:v,v")

    def next_logits(words: list[int]) -> Tensor:
        """The logits depend on the last word, and on those before it."""
        before = torch.tensor(words[:-1], dtype=torch.long)
        logits: Tensor = 2 * weights["last"][words[-1]] + weights["before"][before].sum(dim=0)
        return logits

    return {"next_logits": next_logits, "us": random.uniform(3 * random.sizes["T"]), "start": 0, "end": 1}


def _sample_sentence(
    next_logits: Callable[[list[int]], Tensor], us: Tensor, start: int, end: int
) -> dict[str, Any]:
    words: list[int] = []
    for u in us.tolist():
        words.append(_sample_word(next_logits([start, *words]), u, 1.0)["word"])
        if words[-1] == end:
            break
    return {"words": words}


# pooling.py


def _padded(random: Random) -> dict[str, Any]:
    """States of T positions and two of padding, which hold numbers that must not matter."""
    T = random.sizes["T"]
    return {"H": random.normal(T + 2, random.sizes["n"]), "mask": torch.arange(T + 2) < T}


def _mean_pooling(H: Tensor, mask: Tensor) -> dict[str, Tensor]:
    return {"v": attend(H.new_zeros(1, 1, len(H)), H[None], mask[None])[0][0, 0]}  # equal energies: the mean


def _attention_pooling(H: Tensor, mask: Tensor, W: Tensor, b: Tensor, u: Tensor) -> dict[str, Tensor]:
    e = additive_energies(b[None, None], (H @ W.T)[None], u)
    context, alpha = attend(e, H[None], mask[None])
    return {"e": e[0, 0], "alpha": alpha[0, 0], "v": context[0, 0]}


# seq2seq.py


def _encode(xs: Tensor, h0: Tensor, W: Tensor, U: Tensor, b: Tensor, W_s: Tensor) -> dict[str, Tensor]:
    states, (last,) = rnn_sequence(xs[None], _real(xs), (h0[None],), W, U, b, "tanh")
    return {"states": states[0], "context": last[0], "s0": torch.tanh(W_s @ last[0])}


def _decoder_step(
    y: Tensor, s: Tensor, c: Tensor, W: Tensor, U: Tensor, C: Tensor, b: Tensor, V: Tensor
) -> dict[str, Tensor]:
    (new,) = rnn_step((W @ y + C @ c + b)[None], (s[None],), U, "tanh")
    return {"new_s": new[0], "p": _softmax(V @ new[0])}


def _greedy_inputs(random: Random) -> dict[str, Any]:
    weights = random.inputs("E:v,m W:n,m U:n,n C:n,n b:n V:v,n")
    weights["E"] *= 6  # so that the words differ
    return {**random.inputs("s0:n c:n"), **weights, "start": 0, "end": 1, "most": 2 * random.sizes["T"]}


def _greedy(
    s0: Tensor, c: Tensor, E: Tensor, start: int, end: int, most: int, **weights: Tensor
) -> dict[str, Any]:
    s, words = s0, [start]
    while len(words) <= most and (len(words) == 1 or words[-1] != end):
        after = _decoder_step(E[words[-1]], s, c, **weights)
        s = after["new_s"]
        words.append(int(after["p"].argmax()))
    return {"words": words[1:]}


# bahdanau.py


def _both_directions(random: Random) -> dict[str, Any]:
    """The states of two RNNs; what the backward one reads last is the first word."""
    given = random.inputs("xs:T,m s0:n U:n,m W:n,n b:n")
    forward, backward = (_rnn(**{**given, "xs": xs})["states"] for xs in (given["xs"], given["xs"].flip(0)))
    return {"forward_states": forward, "backward_states": backward}


def _annotations(forward_states: Tensor, backward_states: Tensor) -> dict[str, Tensor]:
    pairs = zip(forward_states, reversed(backward_states.unbind()), strict=True)
    return {"h": torch.stack([torch.cat(pair) for pair in pairs])}


def _attention(s: Tensor, H: Tensor, W_a: Tensor, U_a: Tensor, v_a: Tensor) -> dict[str, Tensor]:
    e = additive_energies((W_a @ s)[None, None], (H @ U_a.T)[None], v_a)
    context, alpha = attend(e, H[None], _real(H))
    return {"e": e[0, 0], "alpha": alpha[0, 0], "context": context[0, 0]}


class _Recurrence(NamedTuple):
    """f(s_{i−1}, y_{i−1}, c_i), the GRU of the paper, callable."""

    W: Tensor
    U: Tensor
    C: Tensor

    def __call__(self, s: Tensor, y: Tensor, c: Tensor) -> Tensor:
        return gru_step((self.W @ y + self.C @ c)[None], (s[None],), self.U)[0][0]


_ATTENTION = "H:T,d W_a:a,n U_a:a,d v_a:a"


def _with_recurrence(shapes: str) -> Callable[[Random], dict[str, Any]]:
    """Inputs of some shapes, those of the attention, and f."""

    def inputs(random: Random) -> dict[str, Any]:
        f = random.inputs("W:gru:n,m U:gru:n,n C:gru:n,d")
        return {
            **random.inputs(f"{shapes} {_ATTENTION}"),
            "f": _Recurrence(**{name: _stack(gates) for name, gates in f.items()}),
        }

    return inputs


def _bahdanau(
    ys: Tensor, s0: Tensor, H: Tensor, W_a: Tensor, U_a: Tensor, v_a: Tensor, f: _Recurrence
) -> tuple[Tensor, Tensor, Tensor]:
    keys = (H @ U_a.T)[None]
    return attending_gru((ys @ f.W.T)[None], s0[None], keys, H[None], _real(H), W_a, v_a, f.U, f.C)


def _bahdanau_step(y: Tensor, s: Tensor, **rest: Any) -> dict[str, Tensor]:
    states, contexts, _ = _bahdanau(y[None], s, **rest)
    return {"context": contexts[0, 0], "new_s": states[0, 0]}


def _alignment(**inputs: Any) -> dict[str, Tensor]:
    return {"alphas": _bahdanau(**inputs)[2][0]}


# luong.py and query_key_value.py


def _scores(q: Tensor, K: Tensor, W: Tensor, W_c: Tensor, v: Tensor) -> dict[str, Tensor]:
    query, keys = q[None, None], K[None]
    energies = {
        "dot": dot_energies(query, keys),
        "scaled": scaled_dot_energies(query, keys),
        "general": bilinear_energies(query, keys, W),
        "concat": concat_energies(query, keys, W_c, v),
    }
    return {name: each[0, 0] for name, each in energies.items()}


def _attentional_state(h: Tensor, H: Tensor, W_c: Tensor) -> dict[str, Tensor]:
    context, alpha = attend(dot_energies(h[None, None], H[None]), H[None], _real(H))
    attentional = torch.tanh(W_c @ torch.cat([context[0, 0], h]))
    return {"alpha": alpha[0, 0], "context": context[0, 0], "attentional": attentional}


def _attend(q: Tensor, K: Tensor, V: Tensor) -> dict[str, Tensor]:
    similarities = dot_energies(q[None, None], K[None])
    context, alpha = attend(similarities, V[None], _real(K))
    return {"similarities": similarities[0, 0], "alpha": alpha[0, 0], "context": context[0, 0]}


def _self_attention(Q: Tensor, K: Tensor, V: Tensor) -> dict[str, Tensor]:
    """The op projects words: here a word is its query, key and value one below the other."""
    words = torch.cat([Q, K, V]).T[None]
    eye = torch.eye(words.shape[2], dtype=Q.dtype)
    W_Q, W_K, W_V = eye[: len(Q)], eye[len(Q) : -len(V)], eye[-len(V) :]
    Z, alpha = query_key_value(words, words, _real(words[0]), W_Q, W_K, W_V)
    return {"A": alpha[0].T, "Z": Z[0].T}


# self_attentive_rnn.py and lstmn.py


def _sum_step(
    x: Tensor, c: Tensor, tape: Tensor, A: Tensor, b: Tensor, W_K: Tensor, W_Q: Tensor
) -> dict[str, Tensor]:
    W, U = A[:, : len(x)], A[:, len(x) :]
    scoring = DotScoring(W_K)
    before = b.new_zeros(1, len(b)), c[None], scoring.keys(tape[None]), tape[None], _real(tape)
    (h, s, _, states, _), alpha = sum_step((W @ x + b)[None], before, U, W_Q, scoring)
    return {"h": h[0], "states": states[0], "alpha": alpha[0], "new_c": s[0]}


def _sum_rnn(xs: Tensor, A: Tensor, b: Tensor, W_K: Tensor, W_Q: Tensor) -> dict[str, Tensor]:
    """The op returns every h and alpha; c_t = Σ α_i h_i."""
    W, U = A[:, : xs.shape[1]], A[:, xs.shape[1] :]
    zero, none = b.new_zeros(1, len(b)), b.new_zeros(1, 0, len(b))
    initial = zero, zero, b.new_zeros(1, 0, len(W_K)), none, torch.ones(1, 0, dtype=torch.bool)
    states, _, alpha = self_attentive_rnn_sequence(
        xs[None], _real(xs), initial, W, U, b, W_Q, DotScoring(W_K), "sum"
    )
    return {"contexts": alpha[0] @ states[0]}


def _read_step(
    x: Tensor, s: Tensor, tape: Tensor, A: Tensor, b: Tensor, W_h: Tensor, W_x: Tensor, W_s: Tensor, v: Tensor
) -> dict[str, Tensor]:
    W, U = A[:, : len(x)], A[:, len(x) :]
    scoring = AdditiveScoring(W_h, v)
    before = b.new_zeros(1, len(b)), s[None], scoring.keys(tape[None]), tape[None], _real(tape)
    (h, summary, *_), alpha = read_step(torch.cat([W @ x + b, W_x @ x])[None], before, U, W_s, scoring)
    return {"alpha": alpha[0], "new_s": summary[0], "h": h[0]}


def _lstmn_attend(
    x: Tensor, s: Tensor, hs: Tensor, cs: Tensor, W_h: Tensor, W_x: Tensor, W_s: Tensor, v: Tensor
) -> dict[str, Tensor]:
    scoring = AdditiveScoring(W_h, v)
    query, keys = (W_x @ x + W_s @ s)[None], scoring.keys(hs[None])
    summary, alpha = read_tape(scoring, query, keys, hs[None], _real(hs))
    recalled, _ = read_tape(scoring, query, keys, cs[None], _real(cs))
    return {"alpha": alpha[0], "new_s": summary[0], "recalled": recalled[0]}


def _lstmn_update(
    x: Tensor, s: Tensor, recalled: Tensor, W: LSTMGates, U: LSTMGates, b: LSTMGates
) -> dict[str, Tensor]:
    """A step of the op on a tape of one slot, which holds s_t and c′_t: its alpha is 1."""
    one = s.new_ones(1, len(s))
    scoring = DotScoring()
    before = (
        one,
        one,
        one,
        s[None, None],
        s[None, None],
        recalled[None, None],
        torch.ones(1, 1, dtype=torch.bool),
    )
    projected = torch.cat([_stack(W) @ x + _stack(b), torch.zeros_like(s)])[None]
    after, _ = lstmn_step(
        projected, before, _stack(U), torch.eye(len(s), dtype=s.dtype), scoring, output="plain"
    )
    return {"new_h": after[0][0], "new_c": after[1][0]}


_TAPE = "W_h:a,n W_x:a,m W_s:a,n v:a"
_LSTM = "W:lstm:n,m U:lstm:n,n b:lstm:n"
_GRU = "W:gru:n,m U:gru:n,n b:gru:n"

REFERENCES: dict[str, dict[str, Reference]] = {
    "rnn": {
        "rnn_step": Reference("x:m s:n U:n,m W:n,n b:n V:v,n c:v", _rnn_step),
        "rnn": Reference("xs:T,m s0:n U:n,m W:n,n b:n", _rnn),
        "sigmoid_step": Reference("x:m h:n W_hx:n,m W_hh:n,n W_yh:v,n", _sigmoid_step),
    },
    "lstm": {
        "lstm_step": Reference(f"x:m h:n c:n {_LSTM}", _lstm_step),
        "lstm": Reference(f"xs:T,m h0:n c0:n {_LSTM}", _lstm),
    },
    "gru": {
        "gru_step": Reference(f"x:m s:n {_GRU}", _gru_step),
        "gru": Reference(f"xs:T,m s0:n {_GRU}", _gru),
    },
    "language_model": {
        "log_probability": Reference(
            lambda r: {**r.inputs("logits:T,v"), "words": r.words(r.sizes["T"], r.sizes["v"])},
            _log_probability,
        ),
        "sample_word": Reference(
            lambda r: {**r.inputs("logits:v"), "u": r.uniform(1).item(), "temperature": 0.4}, _sample_word
        ),
        "sample_sentence": Reference(_sentence_inputs, _sample_sentence),
    },
    "pooling": {
        "last_state": Reference(_padded, lambda H, mask: {"v": H[int(mask.sum()) - 1]}),
        "mean_pooling": Reference(_padded, _mean_pooling),
        "attention_pooling": Reference(
            lambda r: {**_padded(r), **r.inputs("W:a,n b:a u:a")}, _attention_pooling
        ),
    },
    "seq2seq": {
        "encode": Reference("xs:T,m h0:n W:n,m U:n,n b:n W_s:n,n", _encode),
        "decoder_step": Reference("y:m s:n c:n W:n,m U:n,n C:n,n b:n V:v,n", _decoder_step),
        "greedy": Reference(_greedy_inputs, _greedy),
    },
    "bahdanau": {
        "annotations": Reference(_both_directions, _annotations),
        "attention": Reference(f"s:n {_ATTENTION}", _attention),
        "decoder_step": Reference(_with_recurrence("y:m s:n"), _bahdanau_step),
        "alignment": Reference(_with_recurrence("ys:T,m s0:n"), _alignment),
    },
    "luong": {
        "scores": Reference("q:n K:T,n W:n,n W_c:a,n+n v:a", _scores),
        "attentional_state": Reference("h:n H:T,n W_c:a,n+n", _attentional_state),
    },
    "query_key_value": {
        "attend": Reference("q:n K:T,n V:T,m", _attend),
        "project": Reference(
            "X:m,T W_Q:n,m W_K:n,m W_V:a,m",
            lambda X, W_Q, W_K, W_V: {"Q": W_Q @ X, "K": W_K @ X, "V": W_V @ X},
        ),
        "self_attention": Reference("Q:n,T K:n,T V:m,T", _self_attention),
    },
    "self_attentive_rnn": {
        "sum_step": Reference("x:m c:n tape:t,n A:n,m+n b:n W_K:a,n W_Q:a,n", _sum_step),
        "sum_rnn": Reference("xs:T,m A:n,m+n b:n W_K:a,n W_Q:a,n", _sum_rnn),
        "read_step": Reference(f"x:m s:n tape:t,n A:n,m+n b:n {_TAPE}", _read_step),
    },
    "lstmn": {
        "attend": Reference(f"x:m s:n hs:t,n cs:t,n {_TAPE}", _lstmn_attend),
        "update": Reference(f"x:m s:n recalled:n {_LSTM}", _lstmn_update),
    },
}
"""Exercise → function → its reference."""
