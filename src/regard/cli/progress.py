"""A training run as the terminal shows it."""

from regard.cli.bar import Bar
from regard.cli.console import notes
from regard.training.events import Event, Note, Progress, Validated


class TrainingDisplay(Bar):
    """A listener for `regard.training`; use it as a context around the run."""

    def __init__(self) -> None:
        super().__init__("training", live=notes.is_terminal)

    def __call__(self, event: Event) -> None:
        """Show an event."""
        match event:
            case Note():
                notes.print(event.text, style="dim", markup=False)
            case Validated():
                self._validated(event)
            case Progress():
                self._progressed(event)

    def _progressed(self, event: Progress) -> None:
        share = "" if event.fraction is None else f" ({100 * event.fraction:.0f} %)"
        speed = f"{event.tokens_per_second:,.0f} tokens/s"
        self._show(
            event.fraction,
            event.seconds,
            f"update {event.update:,}  loss {event.loss:.3f}  {speed}",
            f"update {event.update:,}{share}  loss {event.loss:.3f}  rate {event.rate:.2g}  {speed}",
        )

    def _validated(self, event: Validated) -> None:
        v = event.validation
        mark = " [green]best so far[/]" if event.best else ""
        notes.print(
            f"validation at update {event.update:,}: perplexity {v.perplexity:.2f}, token accuracy "
            f"{100 * v.token_accuracy:.1f} % forced, {100 * v.free_running_accuracy:.1f} % free "
            f"(gap {100 * v.gap:.1f}), BLEU {v.bleu:.1f}, exact match {100 * v.exact_match:.1f} %{mark}",
        )
