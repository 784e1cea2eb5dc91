"""Model → hypotheses: greedy, with a beam, or along given words."""

from regard.search.beam import beam
from regard.search.forced import forced
from regard.search.greedy import Stepper, greedy
from regard.search.hypothesis import Hypothesis
from regard.search.limits import LengthLimit

__all__ = ["Hypothesis", "LengthLimit", "Stepper", "beam", "forced", "greedy"]
