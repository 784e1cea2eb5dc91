"""Alignments: attention over words, hard links, their symmetrisation and their scores."""

from regard.output.alignment.error_rate import AlignmentScore, score_alignments
from regard.output.alignment.links import argmax_links, in_order, threshold_links
from regard.output.alignment.merge import LabelledAlpha, merge_alpha, word_labels
from regard.output.alignment.rule import LinkRule
from regard.output.alignment.statistics import AttentionStatistics, attention_statistics
from regard.output.alignment.symmetrize import (
    SYMMETRIZERS,
    flip,
    grow_diag,
    grow_diag_final,
    grow_diag_final_and,
    intersection,
    union,
)

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
