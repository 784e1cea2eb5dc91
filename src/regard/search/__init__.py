"""Model → hypotheses: greedy, with a beam, by sampling, or along given words."""

from regard.models.state import Stepper
from regard.search.beam import search
from regard.search.constraints import TokenConstraints
from regard.search.forced import TokenScores, decode_forced, log_probs_of, score_tokens
from regard.search.hypotheses import Hypothesis
from regard.search.options import LengthLimit, LengthPenalty, SearchOptions
from regard.search.sampling import Alternative, Choice, SamplingOptions, sample, sample_outputs, sampled_rows
from regard.search.trace import History, Node, SearchResult

__all__ = [
    "Alternative",
    "Choice",
    "SamplingOptions",
    "TokenScores",
    "SearchResult",
    "History",
    "Hypothesis",
    "LengthLimit",
    "LengthPenalty",
    "Node",
    "TokenConstraints",
    "SearchOptions",
    "Stepper",
    "sample_outputs",
    "search",
    "score_tokens",
    "decode_forced",
    "log_probs_of",
    "sampled_rows",
    "sample",
]
