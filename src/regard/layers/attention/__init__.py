"""Attentions, local windows and normalisers, each by name in a table; `build_attention` combines them."""

from regard.layers.attention.attention import NORMALIZERS, Attended, Attention, AttentionState
from regard.layers.attention.energies import (
    ENERGIES,
    Additive,
    Bilinear,
    Concat,
    Dot,
    QueryKeyValue,
    ScaledDot,
    build_attention,
    is_covering,
    is_sized,
)
from regard.layers.attention.windows import WINDOWS, LocalM, LocalP, LocalWindow

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
    "LocalWindow",
    "QueryKeyValue",
    "ScaledDot",
    "build_attention",
    "is_covering",
    "is_sized",
]
