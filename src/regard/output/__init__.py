"""From hypotheses to what people read: translations, readings, labels, samples, their scores and pictures."""

from regard.output.classification import Classification
from regard.output.reading import Reading
from regard.output.sample import Candidate, Sample, SampleStep
from regard.output.scored import Scored, TextScore
from regard.output.search_tree import Beginning, SearchTree
from regard.output.tagging import Tagging
from regard.output.translation import Translation
from regard.output.what_if import WhatIf

__all__ = [
    "Beginning",
    "Candidate",
    "Classification",
    "Reading",
    "Sample",
    "SampleStep",
    "Scored",
    "SearchTree",
    "Tagging",
    "TextScore",
    "Translation",
    "WhatIf",
]
