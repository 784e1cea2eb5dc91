"""Alignments: attention over words, hard links, their symmetrisation and their scores."""

from regard.evaluation.alignment.error_rate import AlignmentScore as AlignmentScore
from regard.evaluation.alignment.error_rate import AttentionStatistics as AttentionStatistics
from regard.evaluation.alignment.error_rate import attention_statistics as attention_statistics
from regard.evaluation.alignment.error_rate import score_alignments as score_alignments
from regard.evaluation.alignment.evaluation import AlignmentEvaluation as AlignmentEvaluation
from regard.evaluation.alignment.evaluation import ScoredPair as ScoredPair
from regard.evaluation.alignment.links import SYMMETRIZATIONS as SYMMETRIZATIONS
from regard.evaluation.alignment.links import SYMMETRIZERS as SYMMETRIZERS
from regard.evaluation.alignment.links import LinkRule as LinkRule
from regard.evaluation.alignment.links import SoftLinks as SoftLinks
from regard.evaluation.alignment.links import agreement as agreement
from regard.evaluation.alignment.links import flip as flip
from regard.evaluation.alignment.links import threshold_links as threshold_links
from regard.evaluation.alignment.words import LabelledAlpha as LabelledAlpha
