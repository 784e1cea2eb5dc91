"""Alignments: attention over words, hard links, their symmetrisation and their scores."""

from collections.abc import Callable

from regard.output.alignment.error_rate import AlignmentScore, score_alignments
from regard.output.alignment.links import argmax_links, threshold_links
from regard.output.alignment.merge import LabelledAlpha, merge_alpha, word_labels
from regard.output.alignment.statistics import AttentionStatistics, attention_statistics
from regard.output.alignment.symmetrize import (
    flip,
    grow_diag,
    grow_diag_final,
    grow_diag_final_and,
    intersection,
    union,
)
from regard.text.links import Links

SYMMETRIZERS: dict[str, Callable[[Links, Links], Links]] = {
    "intersection": intersection,
    "union": union,
    "grow-diag": grow_diag,
    "grow-diag-final": grow_diag_final,
    "grow-diag-final-and": grow_diag_final_and,
}

__all__ = [
    "SYMMETRIZERS",
    "AlignmentScore",
    "AttentionStatistics",
    "LabelledAlpha",
    "argmax_links",
    "attention_statistics",
    "flip",
    "grow_diag",
    "grow_diag_final",
    "grow_diag_final_and",
    "intersection",
    "merge_alpha",
    "score_alignments",
    "threshold_links",
    "union",
    "word_labels",
]
