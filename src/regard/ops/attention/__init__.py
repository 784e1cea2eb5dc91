"""Attention as pure functions: energies of queries and keys, then alpha, then the context."""

from regard.ops.attention.additive import additive_energies
from regard.ops.attention.bilinear import bilinear_energies, bilinear_keys
from regard.ops.attention.concat import concat_energies, concat_keys, concat_queries
from regard.ops.attention.coverage import coverage_before, coverage_penalty, covered_energies
from regard.ops.attention.diagonal import diagonal_distances
from regard.ops.attention.dot import dot_energies, scaled_dot_energies
from regard.ops.attention.forced import forced_alpha
from regard.ops.attention.guided import guided_alignment, link_rest_to_end
from regard.ops.attention.hard_monotonic import hard_monotonic
from regard.ops.attention.local import monotonic_positions, nearness, predicted_positions, within_window
from regard.ops.attention.masked_softmax import attend, masked_softmax
from regard.ops.attention.query_key_value import head_contexts, head_energies, query_key_value
from regard.ops.attention.sparsemax import sparsemax
from regard.ops.attention.two_way import TwoWay, disagreement, guided_two_way, two_way_softmax

__all__ = [
    "TwoWay",
    "additive_energies",
    "attend",
    "bilinear_energies",
    "bilinear_keys",
    "concat_energies",
    "concat_keys",
    "concat_queries",
    "coverage_before",
    "coverage_penalty",
    "covered_energies",
    "diagonal_distances",
    "disagreement",
    "dot_energies",
    "forced_alpha",
    "guided_alignment",
    "guided_two_way",
    "hard_monotonic",
    "head_contexts",
    "head_energies",
    "link_rest_to_end",
    "masked_softmax",
    "monotonic_positions",
    "nearness",
    "predicted_positions",
    "query_key_value",
    "scaled_dot_energies",
    "sparsemax",
    "two_way_softmax",
    "within_window",
]
