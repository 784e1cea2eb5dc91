"""Word alignments as sets of links, and files of them: Pharaoh, NAACL 2003 (``.wa``) and Giza (``A3.final``).

In: a file of links, of an annotator or of any aligner, and the sentence pairs it belongs to. Out: `GoldLinks`, one per
pair, and back to text. A link is (source word j, target word i), both counted from 0, whatever the file counts from.

- Pharaoh, a line per pair: ``0-0 1-2 2?1``; ``-`` marks a sure link, ``?`` or ``p`` a possible one, and ``0-0/0.93``
  has its probability after a slash. It counts from 0; the form that counts from 1 looks the same, so it must be named.
- NAACL 2003, a line per link: ``12 1 3 S 0.93``: sentence, source word, target word, all from 1; then S for sure (the
  default) or P for possible, and the probability, both optional. A sentence without links has no line. Word 0 is the
  empty word, so such a line says that a word has no link.
- Giza, three lines per pair: a comment with its number, the target, and the source with the positions, from 1, of the
  target words that each source word is linked to.

Pharaoh and Giza are read pair by pair, in constant memory. Knows nothing of models: `evaluation.alignment` computes
links from attention.
"""

import math
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from regard.errors import ConfigError, DataError, nearest
from regard.text.formats import look_ahead, read_file, shown

Link = tuple[int, int]
Links = frozenset[Link]

FORMATS = {"pharaoh": "Pharaoh", "wa": "NAACL 2003", "giza": "Giza"}
"""The formats of files of links, and their names for people."""

_FROM_1, _TARGET_FIRST = "from-1", "target-source"
_MAX_LISTED = 10_000_000  # links of a file that is held in memory


@dataclass(frozen=True, slots=True)
class GoldLinks:
    """The links of a sentence pair as an annotator, a grammar or a file has them.

    Attributes:
        sure: links that every correct alignment has.
        possible: links that are not errors; always includes the sure ones.
        probabilities: of the links that have one.
    """

    sure: Links
    possible: Links = field(default=frozenset())
    probabilities: Mapping[Link, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "possible", self.possible | self.sure)


@dataclass(frozen=True, slots=True)
class LinkFormat:
    """How a file has its links.

    Attributes:
        name: a key of `FORMATS`; empty to recognise it by the file's content, or to write Pharaoh.
        from_1: whether Pharaoh counts words from 1; the other formats always do.
        target_first: whether a link names the target word first, or Giza's first sentence is the source.

    Raises:
        ConfigError: an unknown name.
    """

    name: str = ""
    from_1: bool = False
    target_first: bool = False

    def __post_init__(self) -> None:
        if self.name and self.name not in FORMATS:
            raise ConfigError(
                f"format = {self.name!r}: there is no such format; {nearest(self.name, FORMATS)}"
            )

    @classmethod
    def parse(cls, text: str, option: str = "format") -> "LinkFormat":
        """Read a format as it is written on a command line: ``wa``, ``from-1``, ``pharaoh,from-1,target-source``.

        Args:
            text: a name, or what is known of the format, or both.
            option: what the text is the value of, for messages.

        Raises:
            ConfigError: an unknown part, or two names.
        """
        parts = [part.strip() for part in text.split(",") if part.strip()]
        for part in parts:
            if part not in (known := (*FORMATS, _FROM_1, _TARGET_FIRST)):
                raise ConfigError(
                    f"{option} {text}: {part!r} is not part of a format; {nearest(part, known)}"
                )
        names = [part for part in parts if part in FORMATS]
        if len(names) > 1:
            raise ConfigError(f"{option} {text}: a file has one format; leave one of {' and '.join(names)}")
        return cls("".join(names), _FROM_1 in parts, _TARGET_FIRST in parts)

    def __str__(self) -> str:
        parts = [FORMATS[self.name or "pharaoh"]]
        if self.name in ("", "pharaoh"):
            parts.append(f"counted from {int(self.from_1)}")
        return ", ".join([*parts, "target first" if self.target_first else "source first"])

    def write(self, gold: GoldLinks, number: int, source: Sequence[str], target: Sequence[str]) -> str:
        """Write the links of a pair, with their probabilities where they have some, so that `read_links` reads them.

        Args:
            gold: the links.
            number: of the pair, from 1.
            source: its words.
            target: its words.

        Returns:
            whole lines with their ends; none for a pair without links in the NAACL format.

        Raises:
            ConfigError: Giza cannot express possible links.
        """
        if self.name == "giza":
            return _write_giza(gold, number, source, target, target_first=self.target_first)
        offset = 1 if self.from_1 or self.name == "wa" else 0
        written = _renumber(gold, lambda j, i: (j + offset, i + offset), flip=self.target_first)
        if self.name == "wa":
            return "".join(_wa_line(number, link, written) for link in in_order(written.possible))
        return format_gold(written) + "\n"


def read_links(
    path: str | Path,
    sentences: Iterable[tuple[str, str]],
    form: LinkFormat = LinkFormat(),  # noqa: B008  # frozen
    listener: Callable[[str], None] = lambda note: None,
) -> Iterator[GoldLinks]:
    """Read the links of sentence pairs, pair by pair.

    Args:
        path: the file.
        sentences: source and target of each pair, words between blanks; read as far as the links are. For a file in
            the NAACL format they are all read first, since only their number says what its numbers start from.
        form: of the file, as far as it is known.
        listener: is called with what was recognised, a sentence for the user.

    Raises:
        DataError: the file cannot be read, is in no known format, links words that do not exist, or is not about these
            pairs.
    """
    first, lines = look_ahead(read_file(path))
    name = form.name or _recognize(path, first)
    yield from _READERS[name](
        path, lines, sentences, LinkFormat(name, form.from_1, form.target_first), listener
    )


def read_gold_links(
    path: str | Path,
    sentences: Iterable[tuple[str, str]],
    form: LinkFormat = LinkFormat(),  # noqa: B008  # frozen
    listener: Callable[[str], None] = lambda note: None,
) -> list[GoldLinks]:
    """Read the links of all sentence pairs at once; arguments as for `read_links`."""
    return list(read_links(path, sentences, form, listener))


def _recognize(path: str | Path, lines: Sequence[str]) -> str:
    """The format of a file whose first lines are given; lines without any link are Pharaoh."""
    for number, line in enumerate(lines, start=1):
        if line.startswith("# Sentence pair"):
            return "giza"
        if _WA_LINK.fullmatch(line.strip()):
            return "wa"
        if line.strip():
            parse_pharaoh(line, f"{shown(path)}:{number}", remedy=_EXAMPLES)
            break
    return "pharaoh"


_EXAMPLES = (
    "; files of links have lines as 0-0 1-2 (Pharaoh), 1 1 2 S (NAACL) or # Sentence pair (1) … (Giza)"
)


def _check_words(place: str, link: Link, written: str, num_source: int, num_target: int) -> None:
    """Raise where a link is to a word that is not there.

    Args:
        place: file and line.
        link: counted from 0, source first.
        written: the same as the file has it.
        num_source: words of the source.
        num_target: words of the target.
    """
    if link[0] >= num_source or link[1] >= num_target:
        raise DataError(
            f"{place}: the link {written} points beyond its sentences of {num_source} and {num_target} words; links "
            f"count from 0 in Pharaoh and from 1 elsewhere, source first, unless its format says {_FROM_1} or "
            f"{_TARGET_FIRST}; delete a link that is wrong"
        )


def _renumber(gold: GoldLinks, move: Callable[[int, int], Link], *, flip: bool) -> GoldLinks:
    """The same links with other numbers, each flipped after it was moved."""

    def change(link: Link) -> Link:
        moved = move(*link)
        return moved[::-1] if flip else moved

    return GoldLinks(
        frozenset(map(change, gold.sure)),
        frozenset(map(change, gold.possible)),
        {change(link): probability for link, probability in gold.probabilities.items()},
    )


def in_order(links: Iterable[Link]) -> list[Link]:
    """Sort links by target word and then by source word, the order in which they are written."""
    return sorted(links, key=lambda link: (link[1], link[0]))


def _probability(text: str, place: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise DataError(f"{place}: {text!r} is not the probability of a link; write a number from 0 to 1")
    return value


class _LinkSet:
    """Links of a pair as they are read."""

    def __init__(self) -> None:
        self._sure: set[Link] = set()
        self._possible: set[Link] = set()
        self._probabilities: dict[Link, float] = {}

    def add(self, link: Link, place: str, *, sure: bool, probability: float | None = None) -> None:
        """Add a link; one that is given twice is sure if it is once.

        Raises:
            DataError: it is given twice with two probabilities.
        """
        (self._sure if sure else self._possible).add(link)
        if probability is not None and self._probabilities.setdefault(link, probability) != probability:
            raise DataError(
                f"{place}: the link {link[0]}-{link[1]} has the probabilities {self._probabilities[link]} and "
                f"{probability}; give it one"
            )

    def links(self) -> GoldLinks:
        return GoldLinks(frozenset(self._sure), frozenset(self._possible), self._probabilities)


# Pharaoh

_LINK = re.compile(r"(\d{1,9})([-?p])(\d{1,9})(?:/(\S+))?")


def parse_pharaoh(line: str, place: str, *, remedy: str = "") -> GoldLinks:
    """Read one sentence's links, numbered as they are written.

    Args:
        line: blank-separated ``j-i`` (sure) and ``j?i`` or ``jpi`` (possible), each perhaps with its probability,
            ``j-i/p``.
        place: file and line for the error message.
        remedy: more for the error message.

    Raises:
        DataError: a part of the line is not a link.
    """
    links = _LinkSet()
    for piece in line.split():
        match = _LINK.fullmatch(piece)
        if match is None:
            raise DataError(
                f"{place}: {piece[:40]!r} is not a link; write source-target counted from 0, as 0-0 1-2, "
                f"with ? for a possible link, as 2?1{remedy}"
            )
        probability = None if match[4] is None else _probability(match[4], place)
        links.add((int(match[1]), int(match[3])), place, sure=match[2] == "-", probability=probability)
    return links.links()


def format_pharaoh(links: Iterable[Link]) -> str:
    """Format links as ``j-i``, ordered by target word and then by source word."""
    return " ".join(f"{j}-{i}" for j, i in in_order(links))


def format_gold(gold: GoldLinks) -> str:
    """Format links so that `parse_pharaoh` reads them back: ``-`` sure, ``?`` possible only, ``/`` its probability."""
    pieces = []
    for j, i in in_order(gold.possible):
        probability = gold.probabilities.get((j, i))
        after = "" if probability is None else f"/{probability!r}"
        pieces.append(f"{j}{'-' if (j, i) in gold.sure else '?'}{i}{after}")
    return " ".join(pieces)


def _read_pharaoh(
    path: str | Path,
    lines: Iterable[str],
    sentences: Iterable[tuple[str, str]],
    form: LinkFormat,
    listener: Callable[[str], None],
) -> Iterator[GoldLinks]:
    listener(f"{shown(path)}: {form}")
    offset = int(form.from_1)
    num_pairs = num_lines = 0
    smallest = math.inf
    for line, pair in zip_longest(lines, sentences):
        if line is None:
            known = len(sentences) if isinstance(sentences, Sequence) else f"more than {num_pairs}"
            raise DataError(
                f"{shown(path)}: {num_lines} lines of links for {known} pairs; give one line per pair, a blank one "
                "where there are no links"
            )
        num_lines += 1
        if pair is None:
            continue
        num_pairs += 1
        place = f"{shown(path)}:{num_lines}"
        written = parse_pharaoh(line, place)
        num_words = [len(text.split()) for text in pair]
        for first, second in written.possible:
            smallest = min(smallest, first, second)
            if smallest < offset:
                raise DataError(
                    f"{place}: the link {first}-{second} in a file that counts from 1; if it counts from 0, leave out "
                    f"{_FROM_1}"
                )
            link = (
                (second - offset, first - offset) if form.target_first else (first - offset, second - offset)
            )
            _check_words(place, link, f"{first}-{second}", *num_words)
        if offset or form.target_first:
            written = _renumber(written, lambda a, b: (a - offset, b - offset), flip=form.target_first)
        yield written
    if num_lines > num_pairs:
        raise DataError(
            f"{shown(path)}: {num_lines} lines of links for {num_pairs} pairs; give one line per pair"
        )
    if not offset and 0 < smallest < math.inf:
        listener(f"{shown(path)}: no link has a 0; if it counts from 1, its format is {_FROM_1}")


# NAACL 2003

_WA_LINK = re.compile(r"(\d{1,9})\s+(\d{1,9})\s+(\d{1,9})(?:\s+([SP]))?(?:\s+([\d.]\S*))?")


def _wa_line(number: int, link: Link, gold: GoldLinks) -> str:
    probability = gold.probabilities.get(link)
    mark = "S" if link in gold.sure else "P"
    return f"{number} {link[0]} {link[1]} {mark}{'' if probability is None else f' {probability!r}'}\n"


def _read_wa(
    path: str | Path,
    lines: Iterable[str],
    sentences: Iterable[tuple[str, str]],
    form: LinkFormat,
    listener: Callable[[str], None],
) -> Iterator[GoldLinks]:
    listed, num_empty = _list_wa(path, lines)
    pairs = [(len(source.split()), len(target.split())) for source, target in sentences]
    start = _first_number(path, listed, len(pairs))
    with_links = sum(bool(each) for each in listed.values())
    without = f"; {len(pairs) - with_links:,} have none" if with_links < len(pairs) else ""
    listener(
        f"{shown(path)}: {form}, links of {with_links:,} sentences, numbered from {start}{without}"
        + (f"; {num_empty:,} lines link a word to none" if num_empty else "")
    )
    for number, num_words in enumerate(pairs, start=start):
        links = _LinkSet()
        values = listed.get(number, ())
        for k in range(0, len(values), 5):
            first, second, mark, line = map(int, values[k : k + 4])
            place = f"{shown(path)}:{line}"
            link = (second - 1, first - 1) if form.target_first else (first - 1, second - 1)
            _check_words(place, link, f"{number} {first} {second}", *num_words)
            probability = None if math.isnan(values[k + 4]) else values[k + 4]
            links.add(link, place, sure=bool(mark), probability=probability)
        yield links.links()


def _list_wa(path: str | Path, lines: Iterable[str]) -> tuple[dict[int, "array[float]"], int]:
    """The links of each sentence, five numbers each: two words, whether it is sure, its line, its probability or NaN.

    Returns:
        them by the number of the sentence, and how many links to the empty word there are.
    """
    listed: dict[int, array[float]] = {}
    total = num_empty = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{shown(path)}:{number}"
        match = _WA_LINK.fullmatch(line.strip())
        if match is None:
            raise DataError(
                f"{place}: {line[:40]!r} is not a link of the NAACL format; write sentence, source word and target "
                "word, counted from 1, then S or P, and perhaps a probability: 1 1 2 S 0.93"
            )
        total += 1
        if total > _MAX_LISTED:
            raise DataError(
                f"{place}: more than {_MAX_LISTED:,} links, and this format is held in memory; use Pharaoh or Giza, "
                "which are read pair by pair"
            )
        sentence, first, second = map(int, match.group(1, 2, 3))
        values = listed.setdefault(sentence, array("d"))
        if not first or not second:
            num_empty += 1
            continue
        probability = math.nan if match[5] is None else _probability(match[5], place)
        values.extend((first, second, match[4] != "P", number, probability))
    return listed, num_empty


def _first_number(path: str | Path, listed: Mapping[int, object], num_pairs: int) -> int:
    """What the sentences of a file are numbered from: 1 or 0 where all numbers fit, else its lowest number.

    Raises:
        DataError: the numbers do not say it, or are not those of this number of pairs.
    """
    lowest, highest = min(listed, default=1), max(listed, default=0)
    start = min(lowest, 1)
    if highest < start + num_pairs:
        return start
    span = highest - lowest + 1
    if span == num_pairs:
        return lowest
    raise DataError(
        f"{shown(path)}: its sentences are numbered from {lowest} to {highest}, and there are {num_pairs} pairs; "
        + ("give all pairs that it has links for" if span > num_pairs else "number the sentences from 1")
    )


# Giza

_GIZA_PAIR = re.compile(r"# Sentence pair \((\d{1,9})\).*")
_GIZA_WORD = re.compile(r"\s*(\S+) \(\{((?:\s+\d{1,9})*)\s*\}\)\s*")


def _write_giza(
    gold: GoldLinks, number: int, source: Sequence[str], target: Sequence[str], *, target_first: bool
) -> str:
    if gold.possible != gold.sure:
        raise ConfigError("format = 'giza': it cannot mark links as possible; write pharaoh or wa")
    score = math.prod(gold.probabilities.values())
    links = {(i, j) for j, i in gold.sure} if target_first else gold.sure
    above, below = (source, target) if target_first else (target, source)
    linked = {position for _, position in links}
    places: list[list[int]] = [[] for _ in below]
    for word, position in sorted(links):
        places[word].append(position)
    places.insert(0, [position for position in range(len(above)) if position not in linked])
    words = [
        " ".join([word, "({", *(str(position + 1) for position in positions), "})"])
        for word, positions in zip(("NULL", *below), places, strict=True)
    ]
    return (
        f"# Sentence pair ({number}) source length {len(below)} target length {len(above)} "
        f"alignment score : {score:.6g}\n{' '.join(above)}\n{' '.join(words)}\n"
    )


def _read_giza(
    path: str | Path,
    lines: Iterable[str],
    sentences: Iterable[tuple[str, str]],
    form: LinkFormat,
    listener: Callable[[str], None],
) -> Iterator[GoldLinks]:
    listener(f"{shown(path)}: {form}")
    numbered = ((number, line) for number, line in enumerate(lines, start=1))
    following = _next_pair(path, numbered)
    num_pairs = num_missing = 0
    for num_pairs, pair in enumerate(sentences, start=1):
        if following is None or following[0] > num_pairs:
            num_missing += 1
            yield GoldLinks(frozenset())
            continue
        number, line, above, below = following
        if number < num_pairs:
            raise DataError(
                f"{shown(path)}:{line}: sentence pair {number} comes twice or too late; number the pairs from 1 in the "
                "order of the sentences"
            )
        yield _giza_links(f"{shown(path)}:{line}", above, below, pair, form)
        following = _next_pair(path, numbered)
    if following is not None:
        raise DataError(
            f"{shown(path)}:{following[1]}: sentence pair {following[0]}, and there are {num_pairs} pairs; give all "
            "pairs that were aligned"
        )
    if num_missing:
        listener(f"{shown(path)}: {num_missing:,} of {num_pairs:,} pairs are not in it; they have no links")


def _next_pair(
    path: str | Path, lines: Iterator[tuple[int, str]]
) -> tuple[int, int, list[str], list[tuple[str, list[int]]]] | None:
    """The next three lines: the pair's number, where it is, the sentence above, the words below with positions."""
    for line, text in lines:
        if not text.strip():
            continue
        header = _GIZA_PAIR.fullmatch(text)
        if header is None:
            raise DataError(
                f"{shown(path)}:{line}: {text[:40]!r} is not the first line of a sentence pair; Giza has # Sentence "
                "pair (1) …, the target, and the source with positions"
            )
        above = next(lines, (0, ""))[1].split()
        place, text = next(lines, (line, ""))
        return int(header[1]), line, above, _parse_positions(f"{shown(path)}:{place}", text, len(above))
    return None


def _parse_positions(place: str, text: str, num_above: int) -> list[tuple[str, list[int]]]:
    """Words with the positions, counted from 1, that they are linked to; the first is the empty word.

    Raises:
        DataError: they are not.
    """
    words, end = [], 0
    while match := _GIZA_WORD.match(text, end):
        words.append((match[1], [int(position) for position in match[2].split()]))
        end = match.end()
    if end < len(text) or not words or words[0][0] != "NULL":
        raise DataError(
            f"{place}: {text[end : end + 40]!r} is not a word with the positions it is linked to; write "
            "NULL ({ 2 }) word ({ 1 3 })"
        )
    for word, positions in words:
        for position in positions:
            if not 0 < position <= num_above:
                raise DataError(
                    f"{place}: {word} ({{ {position} }}) points beyond the sentence above it, of {num_above} words; "
                    "positions count from 1"
                )
    return words


def _giza_links(
    place: str,
    above: Sequence[str],
    below: Sequence[tuple[str, list[int]]],
    pair: tuple[str, str],
    form: LinkFormat,
) -> GoldLinks:
    words = tuple([word.casefold() for word in text.split()] for text in pair)
    found = [word.casefold() for word, _ in below[1:]], [word.casefold() for word in above]
    if found != (words[::-1] if form.target_first else words):
        turned = found == (words if form.target_first else words[::-1])
        raise DataError(
            f"{place}: its words are not those of the pair, {pair[0][:40]!r} and {pair[1][:40]!r}; "
            + (
                f"its sentences are the other way round: {'leave out' if form.target_first else 'its format is'} "
                f"{_TARGET_FIRST}"
                if turned
                else "give the text that was aligned"
            )
        )
    links = frozenset(
        (position - 1, word) if form.target_first else (word, position - 1)
        for word, (_, positions) in enumerate(below[1:])
        for position in positions
    )
    return GoldLinks(links)


_READERS = {"pharaoh": _read_pharaoh, "wa": _read_wa, "giza": _read_giza}
