"""Alignments: attention over words, hard links, their symmetrisation and their scores."""

from regard.evaluation.alignment.error_rate import (
    AlignmentScore,
    AttentionStatistics,
    attention_statistics,
    score_alignments,
)
from regard.evaluation.alignment.links import (
    SYMMETRIZERS,
    LinkRule,
    argmax_links,
    flip,
    grow_diag,
    grow_diag_final,
    grow_diag_final_and,
    in_order,
    intersection,
    threshold_links,
    union,
)
from regard.evaluation.alignment.words import LabelledAlpha, merge_alpha, word_labels

__all__ = [
    "SYMMETRIZERS",
    "AlignmentScore",
    "AttentionStatistics",
    "LabelledAlpha",
    "LinkRule",
    "argmax_links",
    "attention_statistics",
    "flip",
    "grow_diag",
    "grow_diag_final",
    "grow_diag_final_and",
    "in_order",
    "intersection",
    "merge_alpha",
    "score_alignments",
    "threshold_links",
    "union",
    "word_labels",
]
