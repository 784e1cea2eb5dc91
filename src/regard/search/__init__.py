"""Model → hypotheses: greedy, with a beam, by drawing, or along given words."""

from regard.search.draw import draw
from regard.search.find import find
from regard.search.follow import Followed, follow, log_probs_of
from regard.search.forced import forced
from regard.search.found import Found
from regard.search.history import History, Node, Rival
from regard.search.hypothesis import Hypothesis
from regard.search.length_penalty import LengthPenalty
from regard.search.limits import LengthLimit
from regard.search.options import SearchOptions
from regard.search.request import Request
from regard.search.sample import Alternative, Choice, Drawing, rows_of, sample
from regard.search.stepper import Stepper

__all__ = [
    "Alternative",
    "Choice",
    "Drawing",
    "Followed",
    "Found",
    "History",
    "Hypothesis",
    "LengthLimit",
    "LengthPenalty",
    "Node",
    "Request",
    "Rival",
    "SearchOptions",
    "Stepper",
    "draw",
    "find",
    "follow",
    "forced",
    "log_probs_of",
    "rows_of",
    "sample",
]
