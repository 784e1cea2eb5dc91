"""When a run goes wrong: losses that are not finite or only grow, and batches that are too large.

In: the loss of each update. Out: a `RegardError` with a diagnosis. Knows no model and no data.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from regard.errors import RegardError

_MAX_SKIPPED = 10  # updates in a row
_MAX_HIGH = 5  # reports in a row
_MAX_GROWN = 20  # reports in a row: by chance, one run in 20! would have them


@dataclass
class LossGuard:
    """What a run remembers of its losses.

    Attributes:
        initial: the loss of the first update.
        last: the newest mean loss that was reported.
        num_skipped: the updates that were skipped since the run began.
        num_in_row: those since the last one that was not.
        reason: why the newest update was skipped; empty if it was not.
        num_high: reports since the loss was last about as low as in the beginning.
        num_grown: reports since the loss last fell.
    """

    initial: float | None = None
    last: float | None = None
    num_skipped: int = 0
    num_in_row: int = 0
    reason: str = ""
    num_high: int = 0
    num_grown: int = 0

    def count_skipped(self, reason: str, spoiled: str, advice: str) -> None:
        """Count an update that was skipped, or one that was not.

        Args:
            reason: why it was skipped; empty if it was not.
            spoiled: the name of a parameter that is not finite, from which no update recovers; empty if there is none.
            advice: what to do where it is one too many.

        Raises:
            RegardError: it is.
        """
        self.reason = reason
        self.num_in_row = self.num_in_row + 1 if reason else 0
        self.num_skipped += bool(reason)
        if self.num_in_row == _MAX_SKIPPED or spoiled:
            self.refuse_skipped(spoiled, advice)

    def refuse_skipped(self, spoiled: str, advice: str) -> None:
        """Raise where the newest update was skipped; see `count_skipped`.

        Raises:
            RegardError: it was.
        """
        if self.reason:
            before = "" if self.last is None else f" (it was {self.last:.3g} before)"
            weights = f", and so is {spoiled}" if spoiled else f", {self.num_in_row} updates in a row"
            raise RegardError(f"{self.reason}{before}{weights}: training has diverged; {advice}")

    def observe(self, loss: float, advice: str) -> None:
        """Take note of a reported loss.

        Args:
            loss: nats per prediction, a mean over some updates.
            advice: what to do where training diverges.

        Raises:
            RegardError: it does.
        """
        if self.initial is None:
            self.initial = self.last = loss
            return
        assert self.last is not None
        self.num_high = self.num_high + 1 if self.is_high(loss) else 0
        self.num_grown = self.num_grown + 1 if loss > self.last else 0
        self.last = loss
        if self.num_high == _MAX_HIGH or self.num_grown == _MAX_GROWN:
            self.refuse_high(advice)

    def is_high(self, loss: float) -> bool:
        """Whether a loss is far above the first one.

        An untrained model's loss is about ln V: at most 11 nats for a vocabulary of 60,000. A small first loss, as that
        of a trained model, may well become some times larger on other data.
        """
        return self.initial is not None and loss > 2 * self.initial + 10

    def refuse_high(self, advice: str) -> None:
        """Raise where the newest losses are high, or only grew.

        Raises:
            RegardError: they are.
        """
        if self.num_high or self.num_grown >= _MAX_GROWN:
            raise RegardError(
                f"the loss grew from {self.initial:.3g} to {self.last:.3g} nats per prediction: training has diverged; "
                f"{advice}"
            )


def halve(group: Sequence[Sequence[int]]) -> list[Sequence[int]] | None:
    """The batches of one update, each in two halves; None where all have one member."""
    if all(len(members) < 2 for members in group):
        return None
    middles = [math.ceil(len(members) / 2) for members in group]
    halves = [part for members, k in zip(group, middles, strict=True) for part in (members[:k], members[k:])]
    return [part for part in halves if part]
