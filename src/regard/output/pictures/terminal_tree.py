"""A beam search in a terminal, as an indented tree.

In: a `SearchTree`. Out: a rich renderable. Words that follow each other without a choice stand on one line; where the
search kept several ways, each is a branch below it, the best first. Behind an end stands its score, behind a way that
was lost the log-probability it had. The best output is bold, what was lost is dim.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from regard.output.pictures.visible import visible
from regard.output.search_tree import Beginning, SearchTree
from regard.output.wording import hundredths


@dataclass(frozen=True)
class _Rails:
    """What is drawn before a branch and before what hangs from it."""

    branch: str
    last: str
    beside: str
    lost: str
    found: str
    minus: str


_UNICODE = _Rails("├ ", "└ ", "│ ", "✂", "■", "\N{MINUS SIGN}")
_ASCII = _Rails("|-", "`-", "| ", "x", "#", "-")


@dataclass(frozen=True, eq=False)
class TerminalTree:
    """A search for `rich`; print it with ``Console().print(...)``.

    Attributes:
        tree: what it went through.
        pruned: whether what was weighed and not kept is shown, too.
    """

    tree: SearchTree
    pruned: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Write a line for every stretch without a choice."""
        rails = _ASCII if options.ascii_only else _UNICODE
        best = {one.id for one in self.tree.best}
        found = {one.id for end in self.tree.finished for one in self.tree.way_to(end)}
        yield from _Painter(self.tree, self.pruned, rails, best, found).branches(None, "")


@dataclass(frozen=True)
class _Painter:
    """The lines of one drawing."""

    tree: SearchTree
    pruned: bool
    rails: _Rails
    best: set[int]
    found: set[int]

    def branches(self, parent: Beginning | None, indent: str) -> Iterator[Text]:
        """What grew from a beginning, each with all that grew from it."""
        ways = self._ways(parent)
        for way in ways:
            last = way is ways[-1]
            line = Text(indent + (self.rails.last if last else self.rails.branch), "dim", no_wrap=True)
            end = self._stretch(way, line)
            yield line
            yield from self.branches(end, indent + ("  " if last else self.rails.beside))

    def _ways(self, parent: Beginning | None) -> list[Beginning]:
        shown = [one for one in self.tree.after(parent) if self.pruned or one.fate != "pruned"]
        return sorted(shown, key=lambda one: (one.id not in self.best, one.fate == "pruned", -one.total))

    def _stretch(self, one: Beginning, line: Text) -> Beginning:
        """Write the words up to the next choice or the end; return the last of them."""
        while True:
            style = "not dim bold" if one.id in self.best else "not dim" if one.id in self.found else "dim"
            line.append(visible(one.token), style)
            ways = self._ways(one)
            if len(ways) != 1:
                break
            line.append(" ")
            one = ways[0]
        if not ways:
            mark = self.rails.found if one.fate == "finished" else self.rails.lost
            value = one.score if one.fate == "finished" else one.total
            line.append(f" {mark} {hundredths(value, self.rails.minus)}", style)
        return one
