"""Scores: the table of metrics, generated text against references, labels against gold, alignments."""

from regard.evaluation.classes import ClassScore as ClassScore
from regard.evaluation.classes import ClassScores as ClassScores
from regard.evaluation.classes import score_classes as score_classes
from regard.evaluation.classes import score_tags as score_tags
from regard.evaluation.metrics import METRICS as METRICS
from regard.evaluation.metrics import LabelMetric as LabelMetric
from regard.evaluation.metrics import Metric as Metric
from regard.evaluation.metrics import TextMetric as TextMetric
from regard.evaluation.quality import TOKENIZERS as TOKENIZERS
from regard.evaluation.quality import LengthBand as LengthBand
from regard.evaluation.quality import Quality as Quality
from regard.evaluation.quality import measure_by_length as measure_by_length
from regard.evaluation.quality import measure_quality as measure_quality
from regard.evaluation.text import edit_distance as edit_distance
