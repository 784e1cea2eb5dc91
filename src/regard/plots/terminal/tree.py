"""A beam search in a terminal, as an indented tree.

In: a `SearchTree`. Out: a rich renderable. Words that follow each other without a choice stand on one line; where the
search kept several ways, each is a branch below it, the best first. Behind an end stands its score, behind a way that
was lost the log-probability it had. The best output is bold, what was lost is dim.

A sampled sentence in a terminal, a line a step, so that it can be watched as it grows.

In: one step, or a whole sample. Out: rich renderables: the token drawn, a bar and the probability it was drawn with,
the model's own, and what else might have come. A command that samples prints `TerminalGrowthHeading` once and
then a `TerminalStep` as each token is drawn; `TerminalGrowth` prints all of it for a sample that is finished.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from regard.evaluation.metrics import hundredths
from regard.plots.beam_tree import BeamTree, TreeNode
from regard.plots.figures.growth import per_cent
from regard.plots.style import visible
from regard.plots.terminal.heatmap import fitted

if TYPE_CHECKING:
    from regard.tasks.language_model.result import Sample, SampleStep


@dataclass(frozen=True)
class _Symbols:
    """The characters a tree is drawn with."""

    branch: str
    last: str
    beside: str
    lost: str
    finished: str
    minus: str


_UNICODE = _Symbols("├ ", "└ ", "│ ", "✂", "■", "\N{MINUS SIGN}")
_ASCII = _Symbols("|-", "`-", "| ", "x", "#", "-")


@dataclass(frozen=True, eq=False)
class TerminalTree:
    """A beam search for `rich`; print it with ``Console().print(...)``.

    Attributes:
        nodes: partial hypotheses, parents before their children.
        pruned: whether pruned hypotheses are shown.
    """

    nodes: Iterable[TreeNode]
    pruned: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Write a line for every run of tokens without a choice."""
        symbols = _ASCII if options.ascii_only else _UNICODE
        yield from _TreeLines(BeamTree(self.nodes), self.pruned, symbols).branches(None, "")


@dataclass(frozen=True)
class _TreeLines:
    tree: BeamTree[TreeNode]
    pruned: bool
    symbols: _Symbols

    def branches(self, parent: TreeNode | None, indent: str) -> Iterator[Text]:
        """The extensions of a node, each followed by its own."""
        children = self.tree.children(parent, pruned=self.pruned)
        for child in children:
            last = child is children[-1]
            line = Text(indent + (self.symbols.last if last else self.symbols.branch), "dim", no_wrap=True)
            end = self._run(child, line)
            yield line
            yield from self.branches(end, indent + ("  " if last else self.symbols.beside))

    def _run(self, node: TreeNode, line: Text) -> TreeNode:
        """Write the tokens up to the next choice or the end; return the last of them."""
        while True:
            dim = "not dim" if node.id in self.tree.in_output else "dim"
            style = "not dim bold" if self.tree.is_best(node) else dim
            line.append(visible(node.token), style)
            children = self.tree.children(node, pruned=self.pruned)
            if len(children) != 1:
                break
            line.append(" ")
            node = children[0]
        if not children:
            finished = node.fate == "finished"
            mark = self.symbols.finished if finished else self.symbols.lost
            value = node.score if finished else node.total
            line.append(f" {mark} {hundredths(value, self.symbols.minus)}", style)
        return node


_TOKEN, _BAR, _NUMBER = 16, 10, 7  # columns
_EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True)
class TerminalGrowthHeading:
    """The names of the columns."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Write one line."""
        names = f"{'drawn':<{_TOKEN + 1 + _BAR}}{'at %':>{_NUMBER}}{'model %':>{_NUMBER + 2}}   instead of"
        yield Text(fitted(f"     {names}", options.max_width), "dim", no_wrap=True)


@dataclass(frozen=True)
class TerminalStep:
    """One step for `rich`.

    Attributes:
        number: of the step, counted from 1.
        step: what was drawn and what else might have been.
        most: how many alternatives are shown, if the line has room.
    """

    number: int
    step: "SampleStep"
    most: int = 5

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Write one line."""
        chosen = self.step.chosen
        token = fitted(chosen.token, _TOKEN)
        line = Text(f"{self.number:>3}  ", "dim", no_wrap=True)
        line.append(token + " " * (_TOKEN + 1 - cell_len(token)), "not dim bold")
        line.append(_bar(chosen.sampling_probability, options.ascii_only), "not dim blue")
        line.append(f"{per_cent(chosen.sampling_probability):>{_NUMBER}}", "not dim")
        line.append(f"{per_cent(chosen.model_probability):>{_NUMBER + 2}}  ")
        others = [one for one in self.step.ranked(self.most + 1) if one is not chosen]
        for one in others:
            form = f" {fitted(one.token, _TOKEN)} {per_cent(one.sampling_probability)} "
            if line.cell_len + cell_len(form) > options.max_width:
                break
            line.append(form, "not dim" if one.sampling_probability > 0 else "")
        line.rstrip()
        yield line


@dataclass(frozen=True)
class TerminalGrowth:
    """A whole sample for `rich`; print it with ``Console().print(...)``.

    Attributes:
        sample: what to show.
        most: how many alternatives of a step are shown, if its line has room.
    """

    sample: "Sample"
    most: int = 5

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Write the heading, then a line a step."""
        yield TerminalGrowthHeading()
        for number, step in enumerate(self.sample.steps, start=1):
            yield TerminalStep(number, step, self.most)


def _bar(probability: float, ascii_only: bool) -> str:
    """A bar of `_BAR` columns, to an eighth of one."""
    if ascii_only:
        return ("#" * round(probability * _BAR)).ljust(_BAR)
    whole, rest = divmod(round(min(max(probability, 0.0), 1.0) * _BAR * 8), 8)
    return ("█" * whole + _EIGHTHS[rest] * (rest > 0)).ljust(_BAR)
