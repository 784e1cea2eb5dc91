"""The attentions by the name of their energy. One of one's own is a file here and a line in `build.ENERGIES`."""

from regard.layers.attention.additive import Additive, Concat
from regard.layers.attention.attention import Attended, Attention, AttentionState
from regard.layers.attention.build import (
    ENERGIES,
    NORMALIZERS,
    WINDOWS,
    build_attention,
    is_covering,
    is_sized,
)
from regard.layers.attention.dot import Bilinear, Dot, ScaledDot
from regard.layers.attention.local import LocalM, LocalP, Window
from regard.layers.attention.query_key_value import QueryKeyValue

__all__ = [
    "ENERGIES",
    "NORMALIZERS",
    "WINDOWS",
    "Additive",
    "Attended",
    "Attention",
    "AttentionState",
    "Bilinear",
    "Concat",
    "Dot",
    "LocalM",
    "LocalP",
    "QueryKeyValue",
    "ScaledDot",
    "Window",
    "build_attention",
    "is_covering",
    "is_sized",
]
