"""The attentions by the name of their energy. One of one's own is a file here and a line in `ENERGIES`."""

from collections.abc import Callable

from regard.layers.attention.additive import Additive, Concat
from regard.layers.attention.attention import Attended, Attention
from regard.layers.attention.dot import Bilinear, Dot, ScaledDot

ENERGIES: dict[str, Callable[[int, int, int], Attention]] = {
    "additive": Additive,
    "concat": Concat,
    "dot": lambda query_size, annotation_size, size: Dot(query_size, annotation_size),
    "scaled-dot": lambda query_size, annotation_size, size: ScaledDot(query_size, annotation_size),
    "bilinear": lambda query_size, annotation_size, size: Bilinear(query_size, annotation_size),
}
"""(query size, annotation size, alignment units) → the layer; dot products have no alignment units."""

__all__ = ["ENERGIES", "Additive", "Attended", "Attention", "Bilinear", "Concat", "Dot", "ScaledDot"]
