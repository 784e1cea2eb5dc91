"""What a run tells whoever listens: the command line draws it, a notebook may, a test counts it."""

from collections.abc import Callable
from dataclasses import dataclass

from regard.tasks.base import Validation


@dataclass(frozen=True)
class Note:
    """A sentence for the user."""

    text: str


@dataclass(frozen=True)
class Progress:
    """How far the run is.

    Attributes:
        update: the newest update.
        epoch: passes over the data, with the fraction.
        fraction: of the run, 0 to 1, by the limit that will end it first; None where none is known.
        seconds: since the loop began.
        loss: nats a prediction, the mean since the last report.
        rate: the learning rate.
        tokens_per_second: predictions learnt from, validation left out.
    """

    update: int
    epoch: float
    fraction: float | None
    seconds: float
    loss: float
    learning_rate: float
    tokens_per_second: float


@dataclass(frozen=True)
class Validated:
    """A validation is done.

    Attributes:
        update: when.
        seconds: since the loop began.
        validation: what it found.
        best: whether no earlier one was as good.
    """

    update: int
    seconds: float
    validation: Validation
    best: bool


Event = Note | Progress | Validated
Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """The listener that does not listen."""
