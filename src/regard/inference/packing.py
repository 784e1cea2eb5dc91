"""A model → the same model, made to be decoded with and no longer to learn.

Every matrix that a step or an encoder multiplies by is laid out once as the C kernels read it (`ops/native/packed`);
the equations stay where they are and find that layout, and the commonest decoders step in one call (`quick`). Whatever
has no kernel, on this machine or at all, runs by its general path on the same numbers: in float32 and float64 those of
the model, in bfloat16 and int8 its weights rounded.

The model that search steps: a frozen copy, made when it is first needed and again when the weights have changed.
"""

import copy
from typing import Any, TypeVar

import torch
from torch import nn

from regard.config import one_of
from regard.errors import ConfigError, nearest
from regard.inference.ensemble import Ensemble
from regard.inference.fused_step import fused_step_of
from regard.layers import Embedding
from regard.models.decoders import Decoder
from regard.ops.native import PRECISIONS, Precision, native_applies, pack, packed_of
from regard.ops.native.rounding import rounded

M = TypeVar("M", bound=nn.Module)


def pack_model(model: M, precision: Precision = "float32") -> M:
    """Copy a model for decoding: in evaluation mode, without gradients, quicker.

    The model is left as it was and shares its float32 weights with the copy: train it on, and freeze again.

    Args:
        model: any model of ours.
        precision: of the matrices: ``float32``, ``bfloat16`` or ``int8``. Attention, gates and embeddings are computed
            in the model's own.

    Raises:
        ConfigError: no such precision.
    """
    if precision not in PRECISIONS:
        raise ConfigError(f"precision {precision!r}; {nearest(precision, PRECISIONS)}")
    shared: dict[int, Any] = {
        id(each): nn.Parameter(each.detach(), requires_grad=False) for each in model.parameters()
    }
    shared |= {id(each): each for each in model.buffers()}
    frozen = copy.deepcopy(model, shared).eval()
    frozen.register_load_state_dict_pre_hook(_refuse)  # type: ignore[no-untyped-call]
    with torch.no_grad():
        for matrix in _matrices(frozen):
            if native_applies(matrix):
                pack(matrix, precision)
            else:
                matrix.data = rounded(matrix.data, precision)
        for module in frozen.modules():
            if isinstance(module, Decoder) and packed_of(module.output.W_o) is not None:
                module.fused_step = fused_step_of(module, precision)
    return frozen


def _matrices(model: nn.Module) -> list[nn.Parameter]:
    """What is multiplied by, each once; an embedding only if it is the output's matrix too."""
    found: dict[int, nn.Parameter] = {}
    for module in model.modules():
        if not isinstance(module, Embedding):
            found |= {id(each): each for each in module.parameters(recurse=False) if each.dim() == 2}
    return list(found.values())


def _refuse(*_: Any) -> None:
    raise ConfigError(
        "a frozen model takes no new weights; load them into the model it was made of, and freeze that"
    )


class PackedModel:
    """A copy of a model, or of each member of an ensemble, that is never older than its weights.

    Args:
        model: what to freeze.
        precision: of its matrices; see `freeze`.

    Raises:
        ConfigError: no such precision.
    """

    def __init__(self, model: Any, precision: Precision) -> None:
        one_of("precision", precision, PRECISIONS)
        self._model, self._precision = model, precision
        self._members: tuple[nn.Module, ...] = model.models if isinstance(model, Ensemble) else (model,)
        self._copy: Any = None
        self._made_of: list[tuple[int, int]] = []

    def model(self) -> Any:
        """The copy, with `encode` and `decoder` as the model has them."""
        now = [_stamp(parameter) for member in self._members for parameter in member.parameters()]
        if self._copy is None or now != self._made_of:
            frozen = [pack_model(member, self._precision) for member in self._members]
            ensemble = isinstance(self._model, Ensemble)
            self._copy = Ensemble(frozen, self._model.combination) if ensemble else frozen[0]
            self._made_of = now
        return self._copy


def _stamp(parameter: nn.Parameter) -> tuple[int, int]:
    """Where a parameter's numbers are, and how often they were changed in place."""
    return parameter.data_ptr(), 0 if parameter.is_inference() else parameter._version
