"""The few target words that a source sentence can need, learnt from where a model looks."""

from regard.shortlist.coverage import Coverage, covered
from regard.shortlist.learn import learn_shortlist
from regard.shortlist.shortlist import Shortlist

__all__ = ["Coverage", "Shortlist", "covered", "learn_shortlist"]
