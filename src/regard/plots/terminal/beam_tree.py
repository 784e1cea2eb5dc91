"""A beam search in a terminal, as an indented tree.

In: partial hypotheses. Out: a rich renderable. Tokens without a choice between them share a line; where several
hypotheses continue, each is a branch below, the best first. A finished hypothesis ends with its score, any other with
the log-probability of its tokens, and each says which. The best output is bold; hypotheses that led to no output are
dim.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from regard.plots.beam_tree import BeamTree, TreeNode, node_value
from regard.plots.text import printable


@dataclass(frozen=True)
class _Symbols:
    """The characters a tree is drawn with."""

    branch: str
    last: str
    beside: str
    pruned: str
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
            line.append(printable(node.token), style)
            children = self.tree.children(node, pruned=self.pruned)
            if len(children) != 1:
                break
            line.append(" ")
            node = children[0]
        if not children:
            finished = node.fate == "finished"
            mark = self.symbols.finished if finished else f"{self.symbols.pruned} log p"
            line.append(f" {mark} {node_value(node, self.symbols.minus)}", style)
        return node
