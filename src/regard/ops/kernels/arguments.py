"""What the kernels of recurrences take, as named tuples; None in a tuple leaves its part out of the compiled kernel.

Does not import Triton. In a kernel a tuple itself must not be compared with None if one of its fields is None: the
compiler then takes the field for a value. Triton's tuples have a field ``values`` of their own, so none of these do.
"""

from typing import NamedTuple

from torch import Tensor


class Steps(NamedTuple):
    """A tensor (T, B, ·) of a caller, whose last dimension is contiguous, with its strides.

    Attributes:
        x: the tensor.
        t: its stride of time.
        b: its stride of batch.
    """

    x: Tensor
    t: int
    b: int


def steps_of(x: Tensor | None) -> Steps | None:
    """A tensor (T, B, ·) as kernels take it."""
    if x is None:
        return None
    x = x if x.stride(2) == 1 else x.contiguous()
    return Steps(x, x.stride(0), x.stride(1))


class Sizes(NamedTuple):
    """Numbers that change from batch to batch.

    Kernels take them one by one, in ``do_not_specialize``, which Triton does not apply to what is in a tuple: so
    nothing is compiled again for them.

    Attributes:
        T: steps.
        B: sentences.
        slots: of the own tape.
        first: how many of these were given; step t writes slot first + t.
        words: of the source.
    """

    T: int
    B: int
    slots: int = 0
    first: int = 0
    words: int = 0


class Widths(NamedTuple):
    """Widths, each a multiple of a tile's.

    Attributes:
        n: of a state.
        p: of a query and a key.
        d: of what is read.
        g: of the gates.
        q: of what the matrix makes of a state: the query, and after it W_h h in input feeding, or U_z s and U_r s.
        real: how many of n units a GRU's inputs have, which are not padded.
    """

    n: int
    p: int
    d: int
    g: int
    q: int = 0
    real: int = 0


class Memory(NamedTuple):
    """What is attended to, the own past or the source, and what the steps ask and read.

    Attributes:
        keys: (B, slots, p).
        contents: what is read, (B, slots, d).
        mask: 1 at what may be read, (B, slots), or (T, B, slots).
        spans: 1 if the mask has an axis of time, else None; a stride would be compiled for, by what divides it.
        v_a: (p,); None for dot products.
        scale: of dot products.
        matrix: of what asks, (p, n); None where that itself is the query. Backwards it comes transposed.
        queries: of all steps, (T, B, p).
        alpha: (T, B, slots) in float32.
        reads: what was read, (T, B, d).
        share: what the matrix made of the last read before padding, (B, p) in float32.
    """

    keys: Tensor
    contents: Tensor
    mask: Tensor | None
    spans: int | None
    v_a: Tensor | None
    scale: float
    matrix: Tensor | None
    queries: Tensor
    alpha: Tensor
    reads: Tensor | None = None
    share: Tensor | None = None


class MemoryGrads(NamedTuple):
    """Gradients on their way back through a memory.

    Attributes:
        queries: (T, B, p).
        energy: (T, B, slots) in float32, before the scale.
        reads: (B, T, d) of tapes and of what is read beside them, else (T, B, d).
        partial: ∂/∂s in summands (·, B, n) in float32.
        carried: ∂/∂s that padding hands down, (B, n) in float32; None where nothing is padded.
    """

    queries: Tensor
    energy: Tensor
    reads: Tensor
    partial: Tensor | None = None
    carried: Tensor | None = None


class Cell(NamedTuple):
    """A cell's matrices, transposed on the way back, and what its steps leave for it.

    Attributes:
        U: (g, n), or (n, 2n) where it meets s and h. Of an LSTM that attends to the source, backwards, [U, R].
        R: of what was read of the source, (g, d); in deep fusion of the fifth gate, (n, n).
        U_a: of keys, (p, n); None where these are the states themselves.
        gates: of an LSTM, (T, B, g); None of an RNN.
        states: h_0 … h_T (T + 1, B, n) where U meets h.
        memories: c_0 … c_T (T + 1, B, n) in float32, where no tape has them.
        gated: of a GRU, r ∘ s (T, B, n).
        exact: the state of a GRU in float32, (B, n), of which `states` have rounded copies.
        shares: what a GRU's gates are before their sigmoid, on the way, (B, 3n) in float32.
    """

    U: Tensor
    R: Tensor | None
    U_a: Tensor | None
    gates: Tensor | None
    states: Tensor | None = None
    memories: Tensor | None = None
    gated: Tensor | None = None
    exact: Tensor | None = None
    shares: Tensor | None = None


class Taken(NamedTuple):
    """What the loss takes from what the steps made: gradients (T, B, ·), None where there is none."""

    states: Steps | None = None
    memories: Steps | None = None
    summaries: Steps | None = None
    keys: Steps | None = None
    reads: Steps | None = None


class Made(NamedTuple):
    """Gradients that a backward step leaves for its next phase, or for the products after all steps.

    Attributes:
        gates: of the pre-activations, (T, B, g).
        key: (T, B, p).
        slot: of what a step wrote, without its key's share, (B, d) in float32.
        kept: of the h that U met, (B, n) in float32.
    """

    gates: Tensor
    key: Tensor
    slot: Tensor
    kept: Tensor | None = None
