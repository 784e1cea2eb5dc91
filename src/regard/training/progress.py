"""What a run reports while it trains, and how a terminal or a notebook shows it.

In: the loop's `Event`s. Out: `TrainingDisplay` shows them; any other `Listener` may count or plot them. Importing this
imports no torch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from regard.evaluation.metrics import display_name, format_score
from regard.progress import ProgressBar, can_redraw
from regard.terminal import SafeConsole, wrap_line

if TYPE_CHECKING:
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
        loss: nats per prediction, the mean since the last report.
        learning_rate: of the newest update.
        tokens_per_second: per second of training, validations not counted: tokens predicted, or tokens read where a
            text has one label.
        left: an estimate of the seconds that are left of the run; None where it is not known, as at its first update.
    """

    update: int
    epoch: float
    fraction: float | None
    seconds: float
    loss: float
    learning_rate: float
    tokens_per_second: float
    left: float | None = None


@dataclass(frozen=True)
class Validated:
    """A validation is done.

    Attributes:
        update: the update it followed.
        seconds: since the loop began.
        validation: its scores.
        select: the score that decides which checkpoint is the best, a key of `METRICS`.
        best: whether no earlier validation was as good by that score.
        num_without_better: the validations since the best one.
        patience: the number of those that ends the run; 0 for none.
    """

    update: int
    seconds: float
    validation: "Validation"
    select: str
    best: bool
    num_without_better: int = 0
    patience: int = 0


_IN_LOG = {"loss", "token_accuracy", "free_running_accuracy", "exposure_gap"}
"""Scores that the log and the report page have, and a line of validation does not, unless they select."""

Event = Note | Progress | Validated
Listener = Callable[[Event], None]


def ignore(event: object) -> None:
    """A listener that shows nothing, of events or of messages."""


class TrainingDisplay(ProgressBar):
    """A listener that shows a run; use it as a context around the run.

    Args:
        console: where it is shown; standard error, or the notebook, by default.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or SafeConsole(stderr=True, highlight=False, soft_wrap=True)
        super().__init__("training", self.console, live=can_redraw(self.console))
        self._best_score: float | None = None

    @property
    def is_interactive(self) -> bool:
        """Whether somebody is looking: at a terminal, or at a notebook."""
        return self.console.is_terminal or self.console.is_jupyter

    def __call__(self, event: Event) -> None:
        """Show an event."""
        match event:
            case Note():
                self.console.print(wrap_line(self.console, event.text), style="dim", markup=False)
            case Validated():
                self._show_validation(event)
            case Progress():
                self._show_progress(event)

    def _show_progress(self, event: Progress) -> None:
        self._show(
            f"epoch {event.epoch:.1f}",
            event.fraction,
            event.seconds,
            event.left,
            (
                f"update {event.update:,}",
                f"loss {event.loss:.3f}",
                f"{event.tokens_per_second:,.0f} tokens/s",
                f"learning rate {event.learning_rate:.2g}",
            ),
        )

    def _show_validation(self, event: Validated) -> None:
        """One line: the score that selects, how it compares with the best, and the others."""
        scores = event.validation.to_json()
        score = scores.pop(event.select)
        if event.best:
            self._best_score = score
        best = format_score(event.select, self._best_score)
        mark = "best so far" if event.best else f"best {best}"
        if event.patience and event.num_without_better:
            mark += f", {event.num_without_better} of {event.patience} without a better one"
        parts = [f"{display_name(event.select)} {format_score(event.select, score)} ({mark})"]
        parts += [
            f"{display_name(key)} {format_score(key, scores[key])}" for key in scores if key not in _IN_LOG
        ]
        if self.console.is_terminal:  # which breaks the line between two scores
            parts = [part.replace(" ", "\N{NO-BREAK SPACE}") for part in parts]
        text = Text(wrap_line(self.console, f"validation after update {event.update:,}: {', '.join(parts)}"))
        text.highlight_regex(r"best\sso\sfar", "green")
        self.console.print(text, soft_wrap=True)
