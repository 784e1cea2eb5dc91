"""Scores: the table of metrics, generated text against references, labels against gold, alignments."""

from regard.evaluation.classes import ClassScore, ClassScores, score_classes, score_tags
from regard.evaluation.metrics import METRICS, LabelMetric, Metric, TextMetric
from regard.evaluation.quality import TOKENIZERS, LengthBand, Quality, measure_by_length, measure_quality
from regard.evaluation.text import edit_distance

__all__ = [
    "METRICS",
    "TOKENIZERS",
    "ClassScore",
    "ClassScores",
    "LabelMetric",
    "LengthBand",
    "Metric",
    "Quality",
    "TextMetric",
    "edit_distance",
    "measure_quality",
    "measure_by_length",
    "score_classes",
    "score_tags",
]
