"""Word alignments as sets of links, and their text form, Pharaoh.

In: lines such as ``0-0 1-2 2?1``, or a file of them. Out: `Links`, `GoldLinks`, and back. A link is (source word j,
target word i), both counted from 0. ``-`` marks a sure link and ``?`` (or ``p``) a possible one. Knows nothing of
models: `evaluation.alignment` computes links from attention.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from regard.errors import DataError
from regard.text.formats import read_file

Link = tuple[int, int]
Links = frozenset[Link]

_LINK = re.compile(r"(\d+)([-?p])(\d+)")


@dataclass(frozen=True, slots=True)
class GoldLinks:
    """Gold links of a sentence pair, from an annotator or a grammar.

    Attributes:
        sure: links that every correct alignment has.
        possible: links that are not errors; always includes the sure ones.
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
        DataError: a part of the line is not a link.
    """
    sure: set[Link] = set()
    possible: set[Link] = set()
    for piece in line.split():
        match = _LINK.fullmatch(piece)
        if match is None:
            raise DataError(
                f"{place}: {piece!r} is not a link; write source-target counted from 0, as 0-0 1-2, "
                "with ? for a possible link, as 2?1"
            )
        link = (int(match[1]), int(match[3]))
        (sure if match[2] == "-" else possible).add(link)
    return GoldLinks(frozenset(sure), frozenset(possible))


def read_gold_links(path: str | Path, sentences: Sequence[tuple[str, str]]) -> list[GoldLinks]:
    """Read the gold links of sentence pairs, one line per pair.

    Args:
        path: the file.
        sentences: source and target of each pair, words between blanks.

    Raises:
        DataError: the file cannot be read, a line is not a set of links or links words that do not exist, or the number
            of lines is not that of the pairs.
    """
    gold = []
    for number, line in enumerate(read_file(path), start=1):
        links = parse_pharaoh(line, f"{path}:{number}")
        gold.append(links)
        if number > len(sentences):
            continue
        num_sources, num_targets = (len(text.split()) for text in sentences[number - 1])
        for j, i in sorted(links.possible):
            if j >= num_sources or i >= num_targets:
                raise DataError(
                    f"{path}:{number}: the link {j}-{i} points beyond its sentences of {num_sources} and {num_targets} "
                    "words; links count from 0, source first"
                )
    if len(gold) != len(sentences):
        raise DataError(
            f"{path}: {len(gold)} lines of links for {len(sentences)} pairs; give one line per pair"
        )
    return gold


def format_pharaoh(links: Iterable[Link]) -> str:
    """Format links as ``j-i``, ordered by target word and then by source word."""
    return " ".join(f"{j}-{i}" for j, i in sorted(links, key=lambda link: (link[1], link[0])))


def format_gold(gold: GoldLinks) -> str:
    """Format gold links so that `parse_pharaoh` reads them back: ``-`` sure, ``?`` possible only."""
    ordered = sorted(gold.possible, key=lambda link: (link[1], link[0]))
    return " ".join(f"{j}{'-' if (j, i) in gold.sure else '?'}{i}" for j, i in ordered)
