"""The quality of translations: sacrebleu's scores, exact match, error rates, and all of them by length."""

from regard.output.quality.by_length import LengthBand, measure_by_length
from regard.output.quality.corpus import TOKENIZERS, Quality, measure
from regard.output.quality.edit_distance import edit_distance

__all__ = ["TOKENIZERS", "LengthBand", "Quality", "edit_distance", "measure", "measure_by_length"]
