"""A training run as the terminal shows it."""

from regard.cli.bar import Bar
from regard.cli.console import notes
from regard.output.wording import name_of, written
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
        numbers = {name: value for name, value in event.validation.to_json().items() if name != "loss"}
        told = ", ".join(f"{name_of(name)} {written(name, value)}" for name, value in numbers.items())
        mark = "; [green]best so far[/]" if event.best else ""
        notes.print(f"validation at update {event.update:,}: {told}{mark}")
