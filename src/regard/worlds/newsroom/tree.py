"""A sentence as a tree of words, and the line that it makes.

In: nodes that hang from one another. Out: the words from left to right, and which of them belong together. Function
words are heads, as in surface-syntactic dependencies: a noun hangs from the auxiliary that agrees with it, the main
verb too, and a noun after a preposition from that. Knows nothing of what the words mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

_VOWELS = "aeiou"


@dataclass(eq=False)
class Node:
    """A word with all that hangs from it.

    Attributes:
        word: as it is written within a sentence.
        before: what hangs from it and stands before it, from left to right.
        after: what hangs from it and stands after it.
        also: words elsewhere in the tree that it belongs to as well: a verb's subject, a pronoun's noun.
        agrees: the noun whose number it shows, if it is a finite verb.
    """

    word: str
    before: list[Node] = field(default_factory=list)
    after: list[Node] = field(default_factory=list)
    also: list[Node] = field(default_factory=list)
    agrees: Node | None = None

    def in_order(self) -> Iterator[Node]:
        """All words of the tree, from left to right."""
        for child in self.before:
            yield from child.in_order()
        yield self
        for child in self.after:
            yield from child.in_order()


@dataclass(frozen=True)
class Sentence:
    """A line that knows which of its words belong together.

    Attributes:
        words: from left to right, punctuation included.
        links: pairs (earlier word, later word), counted from 0: one hangs from the other, or refers to it.
        reach: how many words the farthest finite verb stands after the noun that it agrees with.
    """

    words: tuple[str, ...]
    links: frozenset[tuple[int, int]]
    reach: int

    @property
    def text(self) -> str:
        """The line."""
        return " ".join(self.words)


def sentence_of(root: Node) -> Sentence:
    """Write a tree down, with a capital at its head and a full stop, which belongs to no word, at its end."""
    nodes = list(root.in_order())
    place = {id(node): number for number, node in enumerate(nodes)}
    links, reach = set(), 0
    for here, node in enumerate(nodes):
        others = [*node.before, *node.after, *node.also, *([node.agrees] if node.agrees else [])]
        links |= {(min(here, place[id(one)]), max(here, place[id(one)])) for one in others}
        if node.agrees:
            reach = max(reach, here - place[id(node.agrees)])
    words = [node.word for node in nodes]
    for here, word in enumerate(words[:-1]):
        if word == "a" and words[here + 1][0] in _VOWELS:
            words[here] = "an"
    words[0] = words[0][0].upper() + words[0][1:]
    return Sentence((*words, "."), frozenset(links), reach)
