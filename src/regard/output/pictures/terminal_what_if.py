"""A translation before and after something was told, in a terminal.

In: a `WhatIf`. Out: a rich renderable: both translations with their scores, a table of the steps (the word, its
log-probability, where the model looked), and both attentions, side by side where there is room. A step at which the two
differ is bold, one that was told where to look has an arrow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from regard.output.pictures.terminal import TerminalAlignment, fitted
from regard.output.pictures.visible import visible
from regard.output.translation import Translation
from regard.output.what_if import WhatIf
from regard.output.wording import hundredths

_GAP = 4  # columns between two heat maps
_WIDEST = 18  # columns of a word


@dataclass(frozen=True, eq=False)
class TerminalWhatIf:
    """A what-if for `rich`; print it with ``Console().print(...)``.

    Attributes:
        what_if: before and after.
    """

    what_if: WhatIf

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the translations, the steps, and the attentions."""
        arrow, minus = ("<", "-") if options.ascii_only else ("◂", "\N{MINUS SIGN}")
        for name, one in (("before", self.what_if.before), ("after", self.what_if.after)):
            line = Text(f"{name:<8}", "dim", no_wrap=True)
            line.append(visible(one.text), "not dim bold")
            yield line.append(f"  {hundredths(one.score, minus)}")
        yield Text("")
        yield self._steps(arrow, minus)
        maps = [_map(one) for one in (self.what_if.before, self.what_if.after) if one.alpha is not None]
        if not maps:
            return
        yield Text("")
        widths = [Measurement.get(console, options, one).maximum for one in maps]
        if sum(widths) + _GAP <= options.max_width:
            side_by_side = Table.grid(padding=(0, _GAP, 0, 0))
            for width in widths:
                side_by_side.add_column(width=width)
            side_by_side.add_row(*maps)
            yield side_by_side
        else:
            yield from maps

    def _steps(self, arrow: str, minus: str) -> Table:
        table = Table(box=None, pad_edge=False, header_style="dim")
        table.add_column("step", justify="right", style="dim")
        for name in ("before", "after"):
            table.add_column(name, no_wrap=True)
            table.add_column("log p", justify="right")
            table.add_column("looked at", no_wrap=True)
        both = zip_longest(_rows(self.what_if.before, minus), _rows(self.what_if.after, minus))
        for step, (before, after) in enumerate(both):
            told = f" {arrow}" if step in self.what_if.attend and after is not None else ""
            one, other = before or ("", "", ""), after or ("", "", "")
            style = "bold" if one[0] != other[0] else ""
            table.add_row(str(step), *one, *other[:2], other[2] + told, style=style)
        return table


def _rows(translation: Translation, minus: str) -> Sequence[tuple[str, str, str]]:
    """Each step's word, its log-probability, and what was looked at most."""
    looked = [""] * len(translation.tokens)
    if translation.alpha is not None:
        looked = [
            f"{fitted(translation.source_tokens[int(row.argmax())], _WIDEST)} {row.max():.2f}"
            for row in translation.alpha
        ]
    words = [fitted(token, _WIDEST) for token in translation.tokens]
    numbers = [hundredths(value, minus) for value in translation.token_log_probs]
    return list(zip(words, numbers, looked, strict=True))


def _map(translation: Translation) -> TerminalAlignment:
    assert translation.alpha is not None, "a map is of attention"
    return TerminalAlignment(translation.alpha, translation.source_tokens, translation.tokens)
