"""What a file's first lines look like: plain text, a table, one word per line; which column has features.

In: the first lines of a file. Out: a `Layout`, which readers compare with their options, so that a wrong file is
an error before anything is done with it. One rule for all: the first `LOOKED_AT` lines decide, blank ones and
comments (``# …``) not counted. A line is a row if it has a tab between other characters; the file is a table if two
lines or more, and nine in ten, are rows. So a text with a tab here and there is a text. Knows nothing of models.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from regard.errors import DataError, nearest
from regard.text.formats.comma_separated import is_comma_separated
from regard.text.formats.files import COMPRESSED, is_typed, read_file, shown
from regard.text.formats.json_lines import is_json_lines

LOOKED_AT = 100
"""How many lines are looked at."""
_SHARE = 0.9  # of the lines that must agree
_MIN_ROWS = 2
CONLLU_COLUMNS = 10
_MIN_WORDS = 3  # lines of one word each, before a file is taken for CoNLL's
TAG = re.compile(r"O|[BIESLU]-\S+|[A-Z]{1,5}\$?|-[A-Z]{3,4}-|[^\w\s]+")
"""A tag by its form: of chunks and names, of Penn's and universal parts of speech (-LRB- is a bracket), and
punctuation as its own tag."""

FEATURE_SEPARATORS = ",;|"
_SPLIT = re.compile(rf"[{FEATURE_SEPARATORS}\s]+")
# pos=V and Case=Nom; or UniMorph's V, PST, V.PTCP, IN+ESS, {NOM/ACC}, LGSPEC1
_FEATURE = re.compile(r"[^\W\d_][\w.\[\]+-]*=\S+|[A-Z0-9{(][A-Z0-9+/{}().*-]*")

ROLES = {
    "source": ("lemma", "source", "src", "input", "word"),
    "features": ("features", "feature", "feats", "msd", "tags", "tag", "morphology"),
    "target": ("form", "wordform", "target", "tgt", "output", "inflection", "inflected"),
}
"""What a column is for → the names that say so in a header row, in any case."""

_LANGUAGES = (
    "arabic bulgarian chinese czech danish dutch english estonian finnish french german greek hebrew hindi hungarian "
    "icelandic indonesian irish italian japanese korean latin latvian lithuanian norwegian persian polish portuguese "
    "romanian russian serbian slovak slovene spanish swedish thai turkish ukrainian vietnamese welsh "
    "eng fra fre deu ger spa ita por nld dut rus cmn jpn kor vie ces pol tur"
)
_COLUMN_NAMES = {
    "label": ("label", "labels", "class", "category", "sentiment", "polarity", "rating"),
    "text": ("text", "texts", "sentence", "review", "comment", "tweet", "utterance", "document", "content"),
    "": (
        "id", "index", "idx", "no", "score", "sentence1", "sentence2", "sentence_a", "sentence_b", "premise",
        "hypothesis", "translation", "words", "phone", "phones", "phoneme", "phonemes", "pronunciation", "ipa", "pos",
        "grapheme", "graphemes", "transcription", "transliteration", "date", "question", "answer", *_LANGUAGES.split(),
    ),
}  # fmt: skip
_ALL_NAMES = frozenset(chain.from_iterable([*ROLES.values(), *_COLUMN_NAMES.values()]))

Column = int | str
"""A column of a tab-separated file: its number, counted from 1, or its name in the file's header row."""


@dataclass(frozen=True)
class Layout:
    """The form of a file, judged by its first lines.

    Attributes:
        num_lines: the lines looked at, blank ones and comments not counted.
        rows: the cells of those lines, split at tabs; a recognised header is not among them.
        num_columns: how many cells most of them have.
        is_table: whether the file has columns; see the module.
        is_vertical: whether it has one word per line with its tags (CoNLL).
        header: a role of `ROLES`, ``label`` or ``text`` → its column, counted from 1; empty without a header.
        has_header: whether the first line names the columns: source and features among them, or all by names that
            columns have.
    """

    num_lines: int
    rows: tuple[tuple[str, ...], ...]
    num_columns: int
    is_table: bool
    is_vertical: bool
    header: dict[str, int]
    has_header: bool

    def column(self, number: int) -> list[str]:
        """The cells of a column, counted from 1, of the lines that have it."""
        return [row[number - 1] for row in self.rows if len(row) >= number]

    def described(self, path: str | Path) -> str:
        """How many columns, for a message about the file; those of .csv are separated by tabs only here."""
        count = f"{self.num_columns} columns"
        return count if is_comma_separated(path, COMPRESSED) else f"{count}, separated by tabs"

    def is_blank(self, number: int) -> bool:
        """Whether a column is blank in all of several lines."""
        cells = self.column(number)
        return len(cells) >= _MIN_ROWS and not any(map(str.strip, cells))

    def feature_columns(self, known: Collection[str] = ()) -> list[int]:
        """The columns that look like features, counted from 1.

        Of a model's features (`known`) more than half of the symbols must be. Without a model, nine in ten cells must
        be features by their form (``pos=V,num=SG`` or ``V;PST;3;SG``), and more than half must have several of them.
        """
        return [
            number
            for number in range(1, self.num_columns + 1)
            if (_mostly_known(self.column(number), known) if known else _in_form(self.column(number)))
        ]


def split_features(cell: str) -> tuple[str, ...]:
    """The features of a cell: ``pos=V,mood=IND`` or ``V;PST;3;SG``, split at , ; | and blanks."""
    return tuple(name for name in _SPLIT.split(cell) if name)


def parse_column(given: Column) -> Column:
    """A column as it was written: ``"2"`` is a number, ``"tags"`` a name."""
    try:
        return int(given)
    except ValueError:
        return given


def number_columns(
    path: str | Path, columns: Sequence[Column], lines: Sequence[str]
) -> tuple[tuple[int, ...], bool]:
    """Look up the columns that are named by the header row.

    Args:
        path: for messages.
        columns: numbers, and names of the header row.
        lines: the file's first ones.

    Returns:
        The columns' numbers, and whether one was named, so that the first line is a header.

    Raises:
        DataError: the first line does not have a name, or has it twice.
    """
    parsed = [parse_column(column) for column in columns]
    if all(isinstance(column, int) for column in parsed):
        return tuple(int(column) for column in parsed), False
    names = [cell.strip() for cell in lines[0].split("\t")] if lines else []
    for column in parsed:
        if isinstance(column, str) and names.count(column) != 1:
            fault = "has several columns" if column in names else "has no column"
            raise DataError(
                f"{shown(path)}: its first line {fault} {column!r}; {nearest(column, names)}; or give the column's "
                "number"
            )
    return tuple(c if isinstance(c, int) else names.index(c) + 1 for c in parsed), True


def inspect_lines(lines: Iterable[str], *, header: bool = False) -> Layout:
    """Judge the form of a file by its first lines, `LOOKED_AT` of them or fewer.

    Args:
        lines: the first ones.
        header: whether the first is known to name the columns; otherwise its cells decide.
    """
    looked_at = list(islice(lines, LOOKED_AT))
    real = [line for line in looked_at if line.strip() and not line.startswith("# ")]
    rows = [tuple(line.split("\t")) for line in real]
    roles = _roles(rows[0]) if rows else {}
    has_header = header or {"source", "features"} <= roles.keys() or (bool(rows) and _names_columns(rows[0]))
    rows = rows[1:] if has_header else rows
    num_rows = sum("\t" in line.strip() for line in real)
    is_table = num_rows >= _MIN_ROWS and num_rows >= _SHARE * len(real)
    counts = Counter(map(len, rows))
    num_columns = max(counts, key=lambda count: (counts[count], count)) if counts else 1
    blank_between = any(not line.strip() for line in "\n".join(looked_at).strip().split("\n"))
    return Layout(
        len(real),
        tuple(rows),
        num_columns,
        is_table,
        _is_conll(rows, num_columns, blank_between) if is_table else _is_spaced_conll(real, blank_between),
        roles if has_header else {},
        has_header,
    )


def look_ahead(lines: Iterator[str]) -> tuple[list[str], Iterator[str]]:
    """The first `LOOKED_AT` lines, and all lines; one that cannot be read is an error in its place only."""
    first: list[str] = []
    fault: list[DataError] = []
    try:
        for line in islice(lines, LOOKED_AT):
            first.append(line)
    except DataError as error:
        fault.append(error)

    def rest() -> Iterator[str]:
        for error in fault:
            raise error
        yield from lines

    return first, chain(first, rest())


def refuse_columns(path: str | Path, lines: Iterable[str], remedy: str) -> None:
    """Raise where a file of plain text is expected, and this one has columns.

    Args:
        path: for the message.
        lines: the first ones.
        remedy: the end of the message for a table.

    Raises:
        DataError: the file is a table, or has one word per line.
    """
    refuse_json_lines(path)
    layout = inspect_lines(lines)
    if layout.is_vertical:
        raise vertical_error(path)
    if layout.is_table:
        raise DataError(f"{shown(path)}: {layout.described(path)}, where plain text is expected; {remedy}")


def refuse_json_lines(path: str | Path, name: str = "text") -> None:
    """Raise where plain text or columns are expected, and a file's name says that it has JSON lines.

    Args:
        path: the file.
        name: that of the text that is wanted, for the message.

    Raises:
        DataError: it has.
    """
    if is_json_lines(path):
        raise DataError(
            f"{shown(path)}: JSON lines, where plain text is expected; write one text per line, as jq -r .{name} {path}"
        )


def vertical_error(path: str | Path) -> DataError:
    """The error about a file with one word per line."""
    return DataError(
        f"{shown(path)}: one word per line with its tags (CoNLL), where one sentence per line is expected; only "
        "taggers read such files, to train (--task tag) and to evaluate"
    )


def read_plain(
    path: str | Path, remedy: str, check: Callable[[Sequence[str]], None] | None = None
) -> Iterator[str]:
    """Yield the lines of a file of plain text; see `read_file`. What is typed is not looked at ahead.

    Args:
        path: as `read_file` takes it.
        remedy: what to do with a table, for the message.
        check: raises where something else is wrong with the first lines.

    Raises:
        DataError: the file cannot be read, or has columns.
    """
    if is_typed([path]):
        yield from read_file(path)
        return
    first, lines = look_ahead(read_file(path))
    refuse_columns(path, first, remedy)
    if check is not None:
        check(first)
    yield from lines


def _roles(cells: Sequence[str]) -> dict[str, int]:
    """The roles that a header row gives to columns; empty where two columns have the same."""
    roles: dict[str, int] = {}
    for number, cell in enumerate(cells, start=1):
        for role, names in (*ROLES.items(), *_COLUMN_NAMES.items()):
            if not role:
                continue
            if _column_name(cell) in names:
                if role in roles:
                    return {}
                roles[role] = number
    return roles


def _column_name(cell: str) -> str:
    """A cell of a header row, in small letters; # may begin the row."""
    return cell.strip().lower().lstrip("\ufeff#")


def _names_columns(cells: Sequence[str]) -> bool:
    """Whether several cells are different names of columns, as ``source`` and ``target`` or ``label`` and ``text``.

    The first may be blank: pandas writes the rows' numbers into a column without a name.
    """
    names = [_column_name(cell) for cell in cells]
    names = names[1:] if names[0] == "" else names
    return 1 < len(names) == len(set(names)) and all(name in _ALL_NAMES for name in names)


def _mostly_known(cells: Sequence[str], known: Collection[str]) -> bool:
    symbols = [name for cell in cells for name in split_features(cell)]
    return sum(name in known for name in symbols) > len(symbols) / 2


def _in_form(cells: Sequence[str]) -> bool:
    bundles = [split_features(cell) for cell in cells]
    formed = sum(bool(names) and all(map(_FEATURE.fullmatch, names)) for names in bundles)
    several = sum(len(names) > 1 for names in bundles)
    spaced = any(len(cell.split()) > 1 for cell in cells)  # a text in capitals
    return bool(cells) and not spaced and formed >= _SHARE * len(cells) and several > len(cells) / 2


def _is_conll(rows: Sequence[Sequence[str]], num_columns: int, blank_between: bool) -> bool:
    """Whether a table has words in its rows: numbered, as CoNLL-U's ten columns, or in groups between blank lines."""
    if num_columns == CONLLU_COLUMNS:
        return sum(row[0][:1].isdigit() for row in rows) >= _SHARE * len(rows)
    words = all(len(cell.split()) <= 1 for row in rows for cell in row)
    return blank_between and len(rows) >= _MIN_WORDS and words


def _is_spaced_conll(lines: Sequence[str], blank_between: bool) -> bool:
    """Whether blanks separate a word from its tags: equally many columns, of which the last has tags only."""
    rows = [line.split() for line in lines]
    if not blank_between or len(rows) < _MIN_WORDS or len({len(row) for row in rows}) > 1 or len(rows[0]) < 2:
        return False
    words, tags = [row[0] for row in rows], [row[-1] for row in rows]
    return all(map(TAG.fullmatch, tags)) and not all(map(TAG.fullmatch, words))
