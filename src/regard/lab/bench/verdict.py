"""Whether a claim was seen: numbers held against bounds that were set before the run.

In: checks, each a measured value and its bound. Out: one of three words. A value that is not a number holds
against nothing. A control, which any working program passes, makes no claim hold in part; where all checks are
controls, as of an identity, that they hold is all there is to see.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

HELD, IN_PART, NOT_SEEN = "held", "held in part", "not seen here"


@dataclass(frozen=True)
class Check:
    """One number that decides.

    Attributes:
        what: the number in words, such as "BLEU kept beyond the lengths learnt from, RNNsearch".
        value: as measured.
        relation: how it must stand to the bound for the claim to hold.
        bound: set before the run, with its reason in the experiment's file.
        unit: written behind both, such as " %".
        control: whether it would hold without the claim too (an identity, a baseline that must fail): it must hold,
            but is no sign of the claim where nothing else holds.
    """

    what: str
    value: float
    relation: Literal["at least", "at most"]
    bound: float
    unit: str = ""
    control: bool = False

    @property
    def held(self) -> bool:
        """Whether the value is on the right side of the bound, or on it."""
        return self.value >= self.bound if self.relation == "at least" else self.value <= self.bound

    def to_json(self) -> dict[str, Any]:
        """Give the check as a JSON object."""
        return {
            "what": self.what,
            "value": self.value,
            "relation": self.relation,
            "bound": self.bound,
            "unit": self.unit,
            "control": self.control,
            "held": self.held,
        }


@dataclass(frozen=True)
class Verdict:
    """What an experiment says of its claim.

    Attributes:
        checks: all of them must hold for the claim to hold.
        because: what was seen, in a sentence or two with the numbers in it.
    """

    checks: Sequence[Check]
    because: str

    @property
    def word(self) -> str:
        """`HELD` where every check held, `IN_PART` where some that is no control did, else `NOT_SEEN`."""
        if self.checks and all(check.held for check in self.checks):
            return HELD
        return IN_PART if any(check.held and not check.control for check in self.checks) else NOT_SEEN

    def to_json(self) -> dict[str, Any]:
        """Give the verdict as a JSON object."""
        return {
            "word": self.word,
            "because": self.because,
            "checks": [check.to_json() for check in self.checks],
        }
