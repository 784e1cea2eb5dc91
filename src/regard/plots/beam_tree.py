"""A beam search as a tree: which partial hypotheses led to an output, and where each one is drawn.

In: nodes, each with its parent. Out: `BeamTree`, and from `layout` the `Position` of each node. The figure, the
terminal and the notebook draw the same tree; fonts, colours and files are theirs.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

from regard.evaluation.metrics import hundredths


class TreeNode(Protocol):
    """A partial hypothesis, identified by its last token."""

    @property
    def id(self) -> int:
        """Unique in its tree."""

    @property
    def parent(self) -> int | None:
        """The id of the hypothesis it extends; None in the first step."""

    @property
    def token(self) -> str:
        """The token it added."""

    @property
    def log_prob(self) -> float:
        """Log p of that token."""

    @property
    def total(self) -> float:
        """Log p of all its tokens."""

    @property
    def score(self) -> float:
        """The score that ranks it if it is finished."""

    @property
    def fate(self) -> Literal["kept", "finished", "pruned"]:
        """Kept in the beam, finished with EOS, or pruned."""


Node = TypeVar("Node", bound=TreeNode)


def node_value(node: TreeNode, minus: str = "\N{MINUS SIGN}") -> str:
    """What is written with a node: the log-probability of its tokens or, named, its score if it is finished.

    Args:
        node: of the tree.
        minus: the minus sign.
    """
    if node.fate == "finished":
        return f"score {hundredths(node.score, minus)}"
    return hundredths(node.total, minus)


class BeamTree(Generic[Node]):
    """Nodes linked to their parents.

    Attributes:
        nodes: by id, parents before their children.
        best: the path to the best output, from its first token to its EOS; empty without a finished output.
        in_output: ids of the nodes that lead to a finished output.
    """

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.nodes = {node.id: node for node in nodes}
        finished = [node for node in self.nodes.values() if node.fate == "finished"]
        winner = max(finished, key=lambda node: node.score, default=None)
        self.best = () if winner is None else self.path(winner)
        self.in_output = {node.id for end in finished for node in self.path(end)}
        self._best_ids = {node.id for node in self.best}
        self._children: dict[int | None, list[Node]] = {}
        for node in self.nodes.values():
            self._children.setdefault(node.parent, []).append(node)

    def is_best(self, node: Node) -> bool:
        """Whether a node is on the path to the best output."""
        return node.id in self._best_ids

    def path(self, node: Node) -> tuple[Node, ...]:
        """The nodes from the first step to this one."""
        path = [node]
        while path[-1].parent is not None:
            path.append(self.nodes[path[-1].parent])
        return tuple(reversed(path))

    def children(self, parent: Node | None, *, pruned: bool = True) -> list[Node]:
        """The extensions of a node, or the first step for None: the best path's first, pruned ones last.

        Args:
            parent: the node.
            pruned: whether pruned nodes are returned.
        """
        children = self._children.get(None if parent is None else parent.id, [])
        return sorted(
            (node for node in children if pruned or node.fate != "pruned"),
            key=lambda node: (not self.is_best(node), node.fate == "pruned", -node.total),
        )


@dataclass(frozen=True)
class Position:
    """Where a node is drawn.

    Attributes:
        row: its step, counted from 0.
        left: its left edge, measured from the best output's.
        width: in the unit of `layout`'s arguments.
    """

    row: int
    left: float
    width: float


def layout(
    tree: BeamTree[Node],
    width_of: Callable[[Node], float],
    *,
    gap: float,
    lean: float,
    pruned: bool = True,
) -> dict[int, Position]:
    """Place every node below its parent, or as near to it as the row allows.

    The best output runs straight down at 0. Within a row the children of one parent are next to each other, in the
    order of their parents, so that no two branches cross. Pruned nodes come last in their row, in the same order.

    Args:
        tree: what to place.
        width_of: the width of a node; any unit, the same for all arguments.
        gap: between two nodes of a row.
        lean: how far to the left of its parent a node may be, so that a finished branch leaves no lasting hole.
        pruned: whether pruned nodes get a position.

    Returns:
        positions by node id.
    """
    positions: dict[int, Position] = {}
    parents: list[Node | None] = [None]
    row = 0
    while parents:
        children = [child for parent in parents for child in tree.children(parent, pruned=pruned)]
        kept = [node for node in children if node.fate != "pruned"]
        free = 0.0  # the first free place of the row
        for node in (*kept, *(node for node in children if node.fate == "pruned")):
            under_parent = node.parent is not None and node.fate != "pruned"
            start = positions[node.parent].left - lean if under_parent and node.parent is not None else 0.0
            left = 0.0 if tree.is_best(node) else max(free, start)
            positions[node.id] = Position(row, left, width_of(node))
            free = left + positions[node.id].width + gap
        parents = list(kept)
        row += 1
    return positions
