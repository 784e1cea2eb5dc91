"""A model → the same model, made to be decoded with and no longer to learn.

Every matrix that a step or an encoder multiplies by is laid out once as the C kernels read it (`ops/native/packed`);
the equations stay where they are and find that layout, and the commonest decoders step in one call (`quick`). Whatever
has no kernel, on this machine or at all, runs by its general path on the same numbers: in float32 and float64 those of
the model, in bfloat16 and int8 its weights rounded.
"""

import copy
from typing import Any, TypeVar

import torch
from torch import nn

from regard.errors import ConfigError, nearest
from regard.layers import Embedding
from regard.models.decoders import Decoder
from regard.models.frozen.quick import quick_step_of
from regard.ops.native import PRECISIONS, Precision, native_applies, pack, packed_of
from regard.ops.native.rounding import rounded

M = TypeVar("M", bound=nn.Module)


def freeze(model: M, precision: Precision = "float32") -> M:
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
                module.quick = quick_step_of(module, precision)
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
