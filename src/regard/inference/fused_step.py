"""A decoder of a frozen model → its step in one call, where `ops/native/decoding` knows its kind.

It knows Luong's and RNNsearch's decoders of one layer, over an LSTM or the paper's GRU, with any energy that is a dot
product or v·tanh and a plain softmax. Every other decoder steps by its own equations.
"""

from dataclasses import replace
from typing import Any

from torch import Tensor

from regard.layers import (
    GRU,
    LSTM,
    Additive,
    Attention,
    Bilinear,
    Concat,
    Dot,
    Output,
    QueryKeyValue,
    ScaledDot,
)
from regard.models.decoders import BahdanauDecoder, Decoder, LuongDecoder
from regard.models.state import DecoderState, EncodedSource, StepOutput
from regard.ops.native import Packed, Precision, native_applies, packed_of
from regard.ops.native.decoding import StepKernel, StepWeights


class NativeFusedStep:
    """A decoder's step; see `Decoder.step`.

    Args:
        kernel: the step in C.
        feeding: whether the readout is fed to the next step.
    """

    def __init__(self, kernel: StepKernel, feeding: bool) -> None:
        self._kernel, self._feeding = kernel, feeding

    def __deepcopy__(self, memo: dict[int, Any]) -> "NativeFusedStep":
        """Itself: nothing of it changes."""
        return self

    def applies(self, state: DecoderState, encoded: EncodedSource) -> bool:
        """Whether these are what the kernel takes: float32 on the CPU, and nobody asked for another path."""
        assert encoded.keys is not None, "the source was read without keys"
        return native_applies(encoded.annotations, encoded.keys, state.cells[0][0])

    def step(self, previous_ids: Tensor, state: DecoderState, encoded: EncodedSource) -> StepOutput:
        """One step for R rows."""
        assert encoded.keys is not None, "the source was read without keys"
        assert encoded.values is not None, "the source was read without values"
        (cell,) = state.cells
        source = (encoded.keys, encoded.values, encoded.visible)
        stepped = self._kernel.step(previous_ids, cell, state.attentional_state, *source)
        fed = stepped.readout if self._feeding else None
        return StepOutput(stepped.logits, DecoderState((stepped.state,), fed), stepped.alpha)

    def over(self, output: Output) -> "NativeFusedStep":
        """The same step with another output matrix, which was packed."""
        W_o = packed_of(output.W_o)
        assert W_o is not None, "an output matrix of a quick step is packed"
        weights = replace(self._kernel.weights, W_o=W_o, b_o=output.b_o)
        return NativeFusedStep(StepKernel(weights, self._kernel.annotation_size, self._kernel), self._feeding)


def fused_step_of(decoder: Decoder, precision: Precision) -> NativeFusedStep | None:
    """The quick step of a decoder whose matrices were packed; None for a kind that has none."""
    if not isinstance(decoder, LuongDecoder | BahdanauDecoder) or len(decoder.stack.layers) > 1:
        return None
    cell, asking = decoder.stack.layers[0], _asking(decoder.attention)
    if type(cell) not in (LSTM, GRU) or asking is None:
        return None
    W_a, v_a, scale = asking
    if isinstance(decoder, LuongDecoder):
        fed, (W_c, b_r, V_o, C_o) = decoder.F, (decoder.readout.W_c.weight, None, None, None)
    else:
        fed, readout = decoder.C, decoder.readout
        W_c, b_r, V_o, C_o = readout.U_o.weight, readout.U_o.bias, readout.V_o.weight, readout.C_o.weight
    matrices = {"W": cell.W, "U": cell.U, "F": fed, "W_a": W_a, "W_c": W_c, "V_o": V_o, "C_o": C_o}
    packed = {name: _packed(matrix, precision) for name, matrix in matrices.items()}
    vectors = {"E": decoder.embedding.E, "b": cell.b, "v_a": v_a, "b_r": b_r, "b_o": decoder.output.b_o}
    weights = StepWeights(**packed, **vectors, W_o=_packed(decoder.output.W_o, precision), scale=scale)  # type: ignore[arg-type]
    feeding = isinstance(decoder, LuongDecoder) and decoder.F is not None
    return NativeFusedStep(StepKernel(weights, decoder.attention.annotation_size), feeding)


def _packed(matrix: Tensor | None, precision: Precision) -> Packed | None:
    return None if matrix is None else packed_of(matrix) or Packed(matrix, precision)


def _asking(attention: Attention) -> tuple[Tensor | None, Tensor | None, float] | None:
    """W_a, v_a and the scale of dot products; None for an attention of another kind."""
    if not attention.plain or attention.heads > 1:
        return None
    kind = type(attention)
    match attention:
        case Additive() if kind is Additive:
            return attention.W_a, attention.v_a, 1.0
        case Concat() if kind is Concat:
            return attention.W_a[:, : attention.query_size], attention.v_a, 1.0
        case QueryKeyValue() if kind is QueryKeyValue:
            return attention.W_Q, None, attention.query_width**-0.5
        case ScaledDot() if kind is ScaledDot:
            return None, None, attention.annotation_size**-0.5
        case Dot() | Bilinear() if kind in (Dot, Bilinear):
            return None, None, 1.0
    return None
