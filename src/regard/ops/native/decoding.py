"""One step of a decoder in one call of a C kernel: packed weights, a state and the last words in, logits out.

The equations are those of the decoders' `step`, against which this is tested. If it is not too large, a table of each
word's terms in the gates (and in RNNsearch's readout) replaces two products per step.
"""

import ctypes
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from regard.ops.native.call import at, empty, flags, kernels
from regard.ops.native.packed import Packed
from regard.ops.native.structs import NO_SUCH_WORD, Decoder, Sentences
from regard.ops.shapes import Bool, Float, Int
from regard.ops.unroll import State

_TABLE = 1 << 24
"""The maximum size of a table of words, in numbers: 64 MiB."""
_ALONE = 1 << 21
"""Multiplications of a step below which one thread is faster than two."""


@dataclass(frozen=True)
class StepWeights:
    """The weights of a step; g is 4n for an LSTM, 3n for a GRU.

    Attributes:
        E: the target embedding, (V, m).
        W: the word's matrices in the gates, (g, m).
        b: the gates' biases, (g,).
        U: the recurrent matrices, (g, n).
        F: the matrices of h̃ (g, l), or of the context (g, d); None without input feeding.
        W_a: the query's matrix, (a, n); None if the state itself is the query.
        v_a: the vector of additive energies, (a,); None for dot products.
        scale: the factor of dot products.
        W_c: Luong's readout, (l, d + n); of RNNsearch U_o, (2l, n).
        b_r: of RNNsearch's readout, (2l,), the bias; None for Luong's.
        V_o: of RNNsearch's readout, (2l, m); None for Luong's.
        C_o: of RNNsearch's readout, (2l, d); None for Luong's.
        W_o: the output matrix, (words, l).
        b_o: its bias.
    """

    E: Tensor
    W: Packed
    b: Tensor
    U: Packed
    F: Packed | None
    W_a: Packed | None
    v_a: Tensor | None
    scale: float
    W_c: Packed
    b_r: Tensor | None
    V_o: Packed | None
    C_o: Packed | None
    W_o: Packed
    b_o: Tensor

    @property
    def products(self) -> int:
        """Multiplications that a row takes."""
        packed = (getattr(self, field.name) for field in fields(self))
        return sum(one.shape[0] * one.shape[1] for one in packed if isinstance(one, Packed))


class Stepped:
    """What a step leaves.

    Attributes:
        state: h (and c), (R, n) each.
        readout: what the output matrix read, (R, l), of Luong's; None of RNNsearch's.
        alpha: (R, Tx).
        logits: (R, words).
    """

    __slots__ = ("alpha", "logits", "readout", "state")

    def __init__(self, state: State, readout: Tensor | None, alpha: Tensor, logits: Tensor) -> None:
        self.state, self.readout, self.alpha, self.logits = state, readout, alpha, logits


class StepKernel:
    """A decoder's step in C.

    Args:
        weights: what it multiplies by.
        annotation_size: d, the width of the values.
        like: another step of the same decoder, whose table of words to share.
    """

    def __init__(self, weights: StepWeights, annotation_size: int, like: "StepKernel | None" = None) -> None:
        self.weights, self.annotation_size = weights, annotation_size
        words, m = weights.E.shape
        g, n = weights.U.shape
        l = weights.W_o.shape[1]
        self.table: Tensor | None = _table_of(weights) if like is None else like.table
        place = {
            name: None if part is None else part.place
            for name in ("W", "U", "F", "W_a", "W_c", "V_o", "C_o", "W_o")
            for part in (getattr(weights, name),)
        }
        tensors = {name: at(getattr(weights, name)) for name in ("E", "b", "b_r", "b_o")}
        self._decoder = Decoder(
            *(n, n if weights.W_a is None else weights.W_a.shape[0], annotation_size, l, m, g, words),
            **place,
            **tensors,
            table=at(self.table),
            v=at(weights.v_a),
            scale=weights.scale,
            lstm=int(g == 4 * n),
        )
        self._place = ctypes.addressof(self._decoder)
        self._sizes = (n, l, weights.W_o.shape[0])
        self._products = weights.products - (0 if self.table is None else weights.W.shape[0] * m)

    def step(
        self,
        previous_ids: Int[Tensor, "R"],
        state: State,
        fed: Float[Tensor, "R l"] | None,
        keys: Float[Tensor, "B Tx a"],
        values: Float[Tensor, "B Tx d"],
        mask: Bool[Tensor, "B Tx"],
    ) -> Stepped:
        """One step for R = B·K rows; every tensor on the CPU, numbers in float32.

        Raises:
            IndexError: a word is none of the vocabulary.
        """
        n, l, words = self._sizes
        rows, (batch, length) = previous_ids.shape[0], mask.shape
        given = [part.contiguous() for part in (previous_ids, *state)]
        keys, values, mask = keys.contiguous(), values.contiguous(), flags(mask)
        new = [empty(rows, n) for _ in state]
        alpha, logits = empty(rows, length), empty(rows, words)
        source = Sentences(batch, length, rows, keys.data_ptr(), values.data_ptr(), mask.data_ptr())
        two = len(state) == 2
        before = (given[0].data_ptr(), given[1].data_ptr(), given[2].data_ptr() if two else None)
        after = (new[0].data_ptr(), new[1].data_ptr() if two else None)
        threads = torch.get_num_threads() if rows * self._products >= _ALONE else 1
        last = (alpha.data_ptr(), logits.data_ptr(), threads)
        place = ctypes.addressof(source)
        readout = None
        if self.weights.b_r is None:
            readout = empty(rows, l)
            fed = None if fed is None else fed.contiguous()
            status = kernels().regard_luong_step(
                self._place, place, *before, at(fed), *after, readout.data_ptr(), *last
            )
        else:
            status = kernels().regard_bahdanau_step(self._place, place, *before, *after, *last)
        if status == NO_SUCH_WORD:
            raise IndexError(f"a word is none of the {self._decoder.V} of the vocabulary")
        return Stepped(tuple(new), readout, alpha, logits)


def _table_of(weights: StepWeights) -> Tensor | None:
    """What each word adds: W E y + b, and V_o E y + b_r of RNNsearch's readout; None where that would be too large."""
    wide = weights.W.shape[0] + (0 if weights.V_o is None else weights.V_o.shape[0])
    if weights.E.shape[0] * wide > _TABLE:
        return None
    parts = [weights.W.product(weights.E, weights.b)]
    if weights.V_o is not None:
        parts.append(weights.V_o.product(weights.E, weights.b_r))
    return torch.cat(parts, dim=1)
