"""Quality: sacrebleu's scores of translations, exact match, error rates, all by length; the scores of labels."""

from regard.output.quality.by_length import LengthBand, measure_by_length
from regard.output.quality.classes import ClassScore, ClassScores, score_classes, score_tags
from regard.output.quality.corpus import TOKENIZERS, Quality, measure
from regard.output.quality.edit_distance import edit_distance

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
