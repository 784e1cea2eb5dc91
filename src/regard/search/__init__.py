"""Model → hypotheses: greedy, with a beam, by drawing, or along given words."""

from regard.models.state import Stepper
from regard.search.beam import find
from regard.search.constraints import TokenConstraints
from regard.search.forced import Followed, follow, forced, log_probs_of
from regard.search.hypotheses import Hypothesis
from regard.search.options import LengthLimit, LengthPenalty, SearchOptions
from regard.search.sampling import Alternative, Choice, Drawing, draw, rows_of, sample
from regard.search.trace import History, Node, SearchResult

__all__ = [
    "Alternative",
    "Choice",
    "Drawing",
    "Followed",
    "SearchResult",
    "History",
    "Hypothesis",
    "LengthLimit",
    "LengthPenalty",
    "Node",
    "TokenConstraints",
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
