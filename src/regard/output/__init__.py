"""From hypotheses to what people read: translations, alignments, scores and pictures."""

from regard.output.translation import Translation

__all__ = ["Translation"]
