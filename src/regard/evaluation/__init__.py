"""Quality: sacrebleu's scores of translations, exact match, error rates, all by length; the scores of labels."""

from regard.evaluation.classes import ClassScore, ClassScores, score_classes, score_tags
from regard.evaluation.quality import (
    TOKENIZERS,
    LengthBand,
    Quality,
    edit_distance,
    measure,
    measure_by_length,
)

__all__ = [
    "TOKENIZERS",
    "ClassScore",
    "ClassScores",
    "LengthBand",
    "Quality",
    "edit_distance",
    "measure",
    "measure_by_length",
    "score_classes",
    "score_tags",
]
