"""A sampled sentence in a terminal, one line per step, printed while it is generated.

In: one step, or a whole sample. Out: rich renderables: the sampled token, a bar and its sampling probability, the
model's own probability, and the alternatives. A command that samples prints `TerminalSampleHeading` once and then a
`TerminalSampleStep` per token; `TerminalSample` prints a finished sample.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from regard.plots.terminal.heatmap import cut_to_width
from regard.plots.text import percent

if TYPE_CHECKING:
    from regard.tasks.language_model.result import Sample, SampleStep

_TOKEN, _BAR, _NUMBER = 16, 10, 7  # columns
_EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True)
class TerminalSampleHeading:
    """The names of the columns."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Write one line."""
        names = f"{'sampled':<{_TOKEN + 1 + _BAR}}{'p %':>{_NUMBER}}{'model %':>{_NUMBER + 2}}   alternatives"
        yield Text(cut_to_width(f"     {names}", options.max_width), "dim", no_wrap=True)


@dataclass(frozen=True)
class TerminalSampleStep:
    """One step for `rich`.

    Attributes:
        number: of the step, counted from 1.
        step: the sampled token and its alternatives.
        most: how many alternatives are shown, if they fit the line.
    """

    number: int
    step: "SampleStep"
    most: int = 5

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Write one line."""
        chosen = self.step.chosen
        token = cut_to_width(chosen.token, _TOKEN)
        line = Text(f"{self.number:>3}  ", "dim", no_wrap=True)
        line.append(token + " " * (_TOKEN + 1 - cell_len(token)), "not dim bold")
        line.append(_bar(chosen.sampling_probability, options.ascii_only), "not dim blue")
        line.append(f"{percent(chosen.sampling_probability):>{_NUMBER}}", "not dim")
        line.append(f"{percent(chosen.model_probability):>{_NUMBER + 2}}  ")
        others = [one for one in self.step.ranked(self.most + 1) if one is not chosen]
        for one in others:
            form = f" {cut_to_width(one.token, _TOKEN)} {percent(one.sampling_probability)} "
            if line.cell_len + cell_len(form) > options.max_width:
                break
            line.append(form, "not dim" if one.sampling_probability > 0 else "")
        line.rstrip()
        yield line


@dataclass(frozen=True)
class TerminalSample:
    """A whole sample for `rich`; print it with ``Console().print(...)``.

    Attributes:
        sample: the sample.
        most: how many alternatives of a step are shown, if they fit its line.
    """

    sample: "Sample"
    most: int = 5

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Write the heading, then one line per step."""
        yield TerminalSampleHeading()
        for number, step in enumerate(self.sample.steps, start=1):
            yield TerminalSampleStep(number, step, self.most)


def _bar(probability: float, ascii_only: bool) -> str:
    """A bar of `_BAR` columns, to an eighth of one."""
    if ascii_only:
        return ("#" * round(probability * _BAR)).ljust(_BAR)
    whole, rest = divmod(round(min(max(probability, 0.0), 1.0) * _BAR * 8), 8)
    return ("█" * whole + _EIGHTHS[rest] * (rest > 0)).ljust(_BAR)
