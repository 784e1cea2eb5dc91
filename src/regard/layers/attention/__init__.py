"""The attentions by the name of their energy. One of one's own is a class and a line in `ENERGIES`."""

from regard.layers.attention.attention import Attended, Attention, AttentionState
from regard.layers.attention.build import (
    ENERGIES,
    NORMALIZERS,
    WINDOWS,
    build_attention,
    is_covering,
    is_sized,
)
from regard.layers.attention.energies import Additive, Bilinear, Concat, Dot, QueryKeyValue, ScaledDot
from regard.layers.attention.windows import LocalM, LocalP, Window

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
