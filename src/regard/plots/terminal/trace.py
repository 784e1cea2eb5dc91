"""A trace in a terminal: for each step a table, the equations at the left and their numbers beside them.

In: a `Trace`. Out: a rich renderable. Of a layer's units the first few are written, of the words those with the
greatest numbers; how many there are in all follows.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from regard.plots.text import printable

if TYPE_CHECKING:
    from regard.tasks.trace import Trace, TracedPart, TracedSection, TracedStep

_MINUS = "\N{MINUS SIGN}"
_WIDTH = 7  # of a number, with its sign and a blank


def written_number(value: float) -> str:
    """A number with three decimals and a real minus sign."""
    if np.isnan(value):
        return ""
    text = f"{value:.3f}"
    return text.replace("-", _MINUS) if float(text) else text.removeprefix("-")


@dataclass(frozen=True, eq=False)
class TerminalTrace:
    """A trace for `rich`; print it with ``Console().print(...)``.

    Attributes:
        trace: what to print.
        components: how many units, words or candidates of a part are written; 0 for all.
        steps: the steps that are printed, counted from 0; None for all.
    """

    trace: "Trace"
    components: int = 4
    steps: Collection[int] | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Print the parameters, then section by section."""
        line = Text(printable(self.trace.text), "bold", no_wrap=True)
        if self.trace.output:
            line.append(" → ", "dim").append(printable(self.trace.output))
        yield line
        if self.trace.parameters:
            yield Text("")
            yield self._matrices()
        for section in self.trace.sections:
            yield Text("")
            yield Text(section.title, "bold underline")
            for count, step in enumerate(section.steps):
                if self.steps is None or count in self.steps or len(section.steps) == 1:
                    yield Text("")
                    if len(section.steps) > 1 or step.output:
                        yield self._heading(count, step)
                    yield self._table(section, step)

    def _heading(self, count: int, step: "TracedStep") -> Text:
        line = Text(f"{count + 1}  ", "dim", no_wrap=True).append(printable(step.token), "not dim bold")
        if step.output is not None:
            line.append(" → " if step.token else "").append(printable(step.output), "not dim bold")
            line.append("" if step.probability is None else f"  {written_number(step.probability)}")
        return line

    def _table(self, section: "TracedSection", step: "TracedStep") -> Table:
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
        table.add_column(style="cyan", overflow="fold")
        table.add_column(overflow="fold")
        layer = None
        for part in section.parts:
            if part.key not in step.values:
                continue
            if part.layer != layer and part.layer is not None and part.key.startswith("layer"):
                table.add_row(Text(f"layer {part.layer}", "dim"), "")
            layer = part.layer
            numbers = self._numbers(section, part, step)
            if numbers is not None:
                table.add_row(Text(part.equations[self.trace.letters]), numbers)
        return table

    def _numbers(self, section: "TracedSection", part: "TracedPart", step: "TracedStep") -> Text | None:
        value = step.values[part.key]
        if part.axis == "words":
            candidates = section.candidates(part, step)
            if not candidates:
                return None
            labels, row = zip(*candidates, strict=True)
            return self._labelled(labels, row, value.shape[-1])
        if part.axis in ("source", "past"):
            labels = section.labels(part, step)
            lines = Text("\n").join(self._labelled(labels, row) for row in np.atleast_2d(value))
            return lines if labels else Text("nothing yet", "dim")
        return self._row(value)

    def _row(self, value: NDArray[np.floating]) -> Text:
        shown = value[: self.components or None]
        line = Text("".join(f"{written_number(number):>{_WIDTH}}" for number in shown.tolist()))
        if len(shown) < len(value):
            line.append(f"  … {len(value)}", "dim")
        return line

    def _labelled(
        self, labels: Sequence[str], row: Sequence[float] | NDArray[np.floating], total: int = 0
    ) -> Text:
        order = np.argsort(-np.asarray(row), kind="stable")
        shown = order[: self.components or None]
        line = Text()
        for k in shown.tolist():
            line.append(f"{written_number(float(row[k])):>{_WIDTH}}").append(" ").append(
                printable(labels[k]), "dim"
            )
        total = max(total, len(order))
        if len(shown) < total:
            line.append(f"  … {total}", "dim")
        return line

    def _matrices(self) -> Table:
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
        table.add_column(style="cyan")
        table.add_column()
        for name, matrix in self.trace.parameters.items():
            for k, row in enumerate(np.atleast_2d(matrix)):
                table.add_row(Text(name if k == 0 else ""), self._row(row))
        return table
