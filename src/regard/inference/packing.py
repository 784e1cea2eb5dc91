"""Model → a packed copy of it that only decodes: faster, and no longer trained.

Every matrix that a step or an encoder multiplies by is laid out once as the C kernels read it (`ops/native/packed`);
the copy's layers own these layouts and hand them to the ops. Decoders that `ops/native/decoding` knows step in one
call, the fused step: Luong's and RNNsearch's (with maxout) of one layer, over an LSTM or the paper's GRU, with any
energy that is a dot product or v·tanh and a plain softmax. Whatever has no kernel, on this machine or at all, runs by
its general path on the same numbers: in float32 and float64 those of the model, in bfloat16 and int8 its weights
rounded. `PackedModel` is the copy that search steps, made again when the weights have changed.
"""

import copy
from dataclasses import replace
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from regard.config import one_of
from regard.errors import ConfigError, nearest
from regard.inference.ensemble import Ensemble
from regard.layers import (
    Embedding,
    MaxoutReadout,
    Output,
)
from regard.models.decoders import BahdanauDecoder, Decoder, LuongDecoder
from regard.models.decoders.decoder import loop_reason
from regard.models.state import DecoderState, EncodedSource, StepOutput
from regard.ops.native import PRECISIONS, Packed, PackedWeights, Precision, native_applies
from regard.ops.native.decoding import StepKernel, StepWeights
from regard.ops.native.recurrences import DECODING
from regard.ops.native.rounding import rounded

M = TypeVar("M", bound=nn.Module)


def pack_model(model: M, precision: Precision = "float32") -> M:
    """Copy a model for decoding: in evaluation mode, without gradients, faster.

    The model is left as it was and shares its float32 weights with the copy; after more training, pack it again.

    Args:
        model: any model of ours.
        precision: of the matrices: ``float32``, ``bfloat16`` or ``int8``. Attention, gates and embeddings are computed
            in the model's own precision.

    Raises:
        ConfigError: no such precision.
    """
    if precision not in PRECISIONS:
        raise ConfigError(f"precision {precision!r}; {nearest(precision, PRECISIONS)}")
    shared: dict[int, Any] = {
        id(parameter): nn.Parameter(parameter.detach(), requires_grad=False)
        for parameter in model.parameters()
    }
    shared |= {id(buffer): buffer for buffer in model.buffers()}
    packed = copy.deepcopy(model, shared).eval()
    packed.register_load_state_dict_pre_hook(_refuse_weights)  # type: ignore[no-untyped-call]
    weights = PackedWeights()
    with torch.no_grad():
        for matrix in _matrices(packed):
            if native_applies(matrix):
                weights.pack(matrix, precision)
            else:
                matrix.data = rounded(matrix.data, precision)
        for module in packed.modules():
            if hasattr(module, "packed"):
                module.packed = weights  # type: ignore[assignment]  # a class attribute, and no parameter
        for module in packed.modules():
            if isinstance(module, Decoder) and weights.of(module.output.W_o) is not None:
                module.fused_step = fuse_step(module, precision)
    return packed


def _matrices(model: nn.Module) -> list[nn.Parameter]:
    """The matrices that are multiplied by, each once; an embedding only if it is the output's matrix too."""
    matrices: dict[int, nn.Parameter] = {}
    for module in model.modules():
        if not isinstance(module, Embedding):
            matrices |= {id(each): each for each in module.parameters(recurse=False) if each.dim() == 2}
    return list(matrices.values())


def _refuse_weights(*_: Any) -> None:
    raise ConfigError(
        "a packed model takes no new weights; load them into the model it is a copy of, and pack that"
    )


class PackedModel:
    """A packed copy of a model, or of each member of an ensemble, that is never older than its weights.

    Args:
        model: what to pack.
        precision: of its matrices; see `pack_model`.

    Raises:
        ConfigError: no such precision.
    """

    def __init__(self, model: Any, precision: Precision) -> None:
        one_of("precision", precision, PRECISIONS)
        self._model, self._precision = model, precision
        self._members: tuple[nn.Module, ...] = model.models if isinstance(model, Ensemble) else (model,)
        self._copy: Any = None
        self._version: list[tuple[int, int]] = []

    def model(self) -> Any:
        """The copy, with `encode` and `decoder` as the model has them."""
        version = [_version(parameter) for member in self._members for parameter in member.parameters()]
        if self._copy is None or version != self._version:
            packed = [pack_model(member, self._precision) for member in self._members]
            ensemble = isinstance(self._model, Ensemble)
            self._copy = Ensemble(packed, self._model.combination) if ensemble else packed[0]
            self._version = version
        return self._copy


def _version(parameter: nn.Parameter) -> tuple[int, int]:
    """Where a parameter's numbers are, and how often they were changed in place."""
    return parameter.data_ptr(), 0 if parameter.is_inference() else parameter._version


class NativeFusedStep:
    """A decoder's step; see `Decoder.step`.

    Args:
        kernel: the step in C.
        feeding: whether the readout is fed to the next step.
    """

    def __init__(self, kernel: StepKernel, feeding: bool) -> None:
        self._kernel, self._feeding = kernel, feeding

    def __deepcopy__(self, memo: dict[int, Any]) -> "NativeFusedStep":
        """Return itself: it is immutable."""
        return self

    def applies(self, state: DecoderState, encoded: EncodedSource) -> bool:
        """Whether the kernel takes these: float32 on the CPU, and no other path was selected."""
        assert encoded.keys is not None, "the source was encoded without keys"
        return native_applies(encoded.annotations, encoded.keys, state.cells[0][0])

    def step(self, previous_ids: Tensor, state: DecoderState, encoded: EncodedSource) -> StepOutput:
        """One step for R rows."""
        assert encoded.keys is not None, "the source was encoded without keys"
        assert encoded.values is not None, "the source was encoded without values"
        (cell,) = state.cells
        source = (encoded.keys, encoded.values, encoded.visible)
        stepped = self._kernel.step(previous_ids, cell, state.attentional_state, *source)
        fed = stepped.readout if self._feeding else None
        return StepOutput(stepped.logits, DecoderState((stepped.state,), fed), stepped.alpha)

    def over(self, output: Output) -> "NativeFusedStep":
        """The same step with another output matrix, which was packed."""
        W_o = None if output.packed is None else output.packed.of(output.W_o)
        assert W_o is not None, "the output matrix of a fused step is packed"
        weights = replace(self._kernel.weights, W_o=W_o, b_o=output.b_o)
        return NativeFusedStep(StepKernel(weights, self._kernel.annotation_size, self._kernel), self._feeding)


def step_lacks(decoder: Decoder) -> str:
    """Why a decoder has no fused step, a clause; empty if it has one."""
    if decoder.reading is None:
        return f"it has none for a {type(decoder).__name__}"
    if decoder.is_mixture:
        return "its words come from a mixture"
    lacks = loop_reason(decoder)
    if lacks:
        return lacks
    if decoder.recurrence.cell not in DECODING:
        return f"its cell is {type(decoder.stack.layers[0]).__name__}"
    if isinstance(decoder, BahdanauDecoder) and not isinstance(decoder.readout, MaxoutReadout):
        return "its readout is not maxout"
    return ""


def fuse_step(decoder: Decoder, precision: Precision) -> NativeFusedStep | None:
    """The fused step of a decoder whose matrices were packed; None for a kind that has none."""
    if step_lacks(decoder):
        return None
    assert isinstance(decoder, LuongDecoder | BahdanauDecoder)
    cell, energy = decoder.stack.layers[0], decoder.attention.fast_weights
    assert energy is not None
    if isinstance(decoder, LuongDecoder):
        fed, (W_c, b_r, V_o, C_o) = decoder.F, (decoder.readout.W_c.weight, None, None, None)
    else:
        fed, readout = decoder.C, decoder.readout
        assert isinstance(readout, MaxoutReadout)
        W_c, b_r, V_o, C_o = readout.U_o.weight, readout.U_o.bias, readout.V_o.weight, readout.C_o.weight
    matrices = {"W": cell.W, "U": cell.U, "F": fed, "W_a": energy.W_q, "W_c": W_c, "V_o": V_o, "C_o": C_o}
    known = decoder.packed or PackedWeights()
    packed = {name: _pack(known, matrix, precision) for name, matrix in matrices.items()}
    vectors = {
        "E": decoder.embedding.E,
        "b": cell.b,
        "v_a": energy.v_a,
        "b_r": b_r,
        "b_o": decoder.output.b_o,
    }
    W_o = _pack(known, decoder.output.W_o, precision)
    weights = StepWeights(**packed, **vectors, W_o=W_o, scale=energy.scale)  # type: ignore[arg-type]
    feeding = isinstance(decoder, LuongDecoder) and decoder.F is not None
    return NativeFusedStep(StepKernel(weights, decoder.attention.context_size), feeding)


def _pack(known: PackedWeights, matrix: Tensor | None, precision: Precision) -> Packed | None:
    return None if matrix is None else known.of(matrix) or Packed(matrix, precision)
