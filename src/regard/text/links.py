"""Word alignments as sets of links, and their Pharaoh text form.

In: lines such as ``0-0 1-2 2?1``. Out: `Links`, `GoldLinks`, and back. A link is (source word j, target
word i), both counted from 0. ``-`` marks a sure link and ``?`` (or ``p``) a possible one. Knows nothing
of models: how links come out of attention is `output/alignment`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from regard.errors import DataError

Link = tuple[int, int]
Links = frozenset[Link]

_LINK = re.compile(r"(\d+)([-?p])(\d+)")


@dataclass(frozen=True, slots=True)
class GoldLinks:
    """What an annotator (or a grammar) says: links that must be there, and links that may be.

    Attributes:
        sure: links any good alignment contains.
        possible: links that are not wrong; always includes the sure ones.
    """

    sure: Links
    possible: Links = field(default=frozenset())

    def __post_init__(self) -> None:
        object.__setattr__(self, "possible", self.possible | self.sure)


def parse_pharaoh(line: str, place: str) -> GoldLinks:
    """Read one sentence's links.

    Args:
        line: blank-separated ``j-i`` (sure) and ``j?i`` or ``jpi`` (possible), counted from 0.
        place: file and line for the error message.

    Raises:
        DataError: a piece of the line is no link.
    """
    sure: set[Link] = set()
    possible: set[Link] = set()
    for piece in line.split():
        match = _LINK.fullmatch(piece)
        if match is None:
            raise DataError(
                f"{place}: {piece!r} is no link; write source-target counted from 0, as 0-0 1-2, "
                "with ? for a possible link, as 2?1"
            )
        link = (int(match[1]), int(match[3]))
        (sure if match[2] == "-" else possible).add(link)
    return GoldLinks(frozenset(sure), frozenset(possible))


def format_pharaoh(links: Iterable[Link]) -> str:
    """Write links as ``j-i``, ordered by target word and then by source word."""
    return " ".join(f"{j}-{i}" for j, i in sorted(links, key=lambda link: (link[1], link[0])))


def format_gold(gold: GoldLinks) -> str:
    """Write gold links so that `parse_pharaoh` reads them back: ``-`` sure, ``?`` possible only."""
    ordered = sorted(gold.possible, key=lambda link: (link[1], link[0]))
    return " ".join(f"{j}{'-' if (j, i) in gold.sure else '?'}{i}" for j, i in ordered)
