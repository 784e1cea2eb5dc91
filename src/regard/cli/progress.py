"""A training run as the terminal shows it: a live bar, or plain lines in a pipe."""

import time
from types import TracebackType
from typing import Self

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from regard.cli.console import PLAIN_EVERY, clock, notes
from regard.training.events import Event, Note, Validated
from regard.training.events import Progress as TrainingProgress


class TrainingDisplay:
    """A listener for `regard.training`; use it as a context around the run."""

    def __init__(self) -> None:
        self._live = notes.is_terminal
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("[bold]training[/]"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[facts]}"),
            TimeElapsedColumn(),
            TextColumn("[dim]left[/] {task.fields[left]}"),
            console=notes,
            disable=not self._live,
            transient=True,
        )
        self._task = self._bar.add_task("training", total=1.0, facts="", left="–:––")
        self._last_line = 0.0

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def __call__(self, event: Event) -> None:
        """Show an event."""
        match event:
            case Note():
                notes.print(event.text, style="dim", markup=False)
            case Validated():
                self._validated(event)
            case TrainingProgress():
                self._progressed(event)

    def _progressed(self, event: TrainingProgress) -> None:
        left = "–:––"
        if event.fraction:
            left = clock(event.seconds * (1 - event.fraction) / event.fraction)
        if self._live:
            facts = f"update {event.update:,}  loss {event.loss:.3f}  {event.tokens_per_second:,.0f} tokens/s"
            self._bar.update(self._task, completed=event.fraction or 0.0, facts=facts, left=left)
        elif time.monotonic() - self._last_line >= PLAIN_EVERY:
            self._last_line = time.monotonic()
            share = "" if event.fraction is None else f" ({100 * event.fraction:.0f} %)"
            notes.print(
                f"update {event.update}{share}  loss {event.loss:.3f}  rate {event.rate:.2g}  "
                f"{event.tokens_per_second:.0f} tokens/s  {clock(event.seconds)} gone, {left} left"
            )

    def _validated(self, event: Validated) -> None:
        v = event.validation
        mark = " [green]best so far[/]" if event.best else ""
        notes.print(
            f"validation at update {event.update:,}: perplexity {v.perplexity:.2f}, token accuracy "
            f"{100 * v.token_accuracy:.1f} % forced, {100 * v.free_running_accuracy:.1f} % free "
            f"(gap {100 * v.gap:.1f}), BLEU {v.bleu:.1f}, exact match {100 * v.exact_match:.1f} %{mark}",
        )
