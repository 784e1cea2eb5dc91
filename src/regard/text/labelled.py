"""Labels, and labelled texts from files: one text with its label, or two texts that share one (inference pairs).

In: paths, or names of labels. Out: `Labels`, a closed set of names ↔ ids, counted from 0 in the names' order;
`LabelledText`s to train on or to score, plain texts to classify, and both as ids. There is no unknown label: no model
could predict it, so a name that is not in the training data is an error. So is a blank text in training data; to
classify, blank texts are allowed, and N lines in are N texts out; a line that names the columns is a blank text.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from regard.errors import ConfigError, DataError, nearest
from regard.text.formats import (
    group_by_size,
    inspect_lines,
    is_json_lines,
    look_ahead,
    name_members,
    read_columns,
    read_file,
    read_json_lines,
    read_plain,
    shown,
)
from regard.text.formats.columns import named
from regard.text.formats.layout import (
    Column,
    Layout,
    number_columns,
    parse_column,
    refuse_json_lines,
    vertical_error,
)
from regard.text.pairs import Place
from regard.text.tokenizer import Tokenizer


class Labels:
    """A closed set of names ↔ ids: the classes of a classifier, the tags of a tagger. A list of names stores it.

    Args:
        names: every label once, by id.

    Raises:
        DataError: a name occurs twice, or there is none.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._ids = {name: i for i, name in enumerate(self._names)}
        if not self._names:
            raise DataError("there is no label; name a file with a label for each text")
        if len(self._ids) < len(self._names):
            twice = next(name for i, name in enumerate(self._names) if self._ids[name] != i)
            raise DataError(f"the label {twice!r} is twice in a list of labels; keep one of the two")

    @classmethod
    def learn(cls, names: Iterable[str]) -> "Labels":
        """Collect the labels of training data, sorted, so that they do not depend on the data's order.

        Args:
            names: the labels in the data's order, with repetitions.

        Raises:
            DataError: there are fewer than two.
        """
        distinct = sorted(set(names))
        if len(distinct) == 1:
            raise DataError(f"every label is {distinct[0]!r}; at least two different labels are needed")
        return cls(distinct)

    @property
    def names(self) -> tuple[str, ...]:
        """The labels, by id."""
        return self._names

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Labels) and self._names == other._names

    def __hash__(self) -> int:
        return hash(self._names)

    def __repr__(self) -> str:
        return f"Labels({list(self._names)})"

    def id_of(self, name: str, place: Place | None = None) -> int:
        """Return a label's id.

        Args:
            name: the label.
            place: where it was read, for the message.

        Raises:
            DataError: the label is not in the set.
        """
        if name not in self._ids:
            where = "" if place is None else f"{place}: "
            raise DataError(
                f"{where}the label {name!r} was not in the training data; {nearest(name, self._names)}"
            )
        return self._ids[name]

    def name_of(self, label_id: int) -> str:
        """Return the label with an id."""
        return self._names[label_id]


_NUM_TEXTS = (1, 2)
_CHUNK = 4096
_COLUMN_OPTIONS = ("--column", "--second-column")  # of the texts to classify


@dataclass(frozen=True, slots=True)
class LabelledText:
    """One or two texts and their label, with the place they were read at, if any."""

    label: str
    texts: tuple[str, ...]
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class EncodedLabelled:
    """The ids of one or two texts, without specials, and their label's."""

    text_ids: tuple[list[int], ...]
    label_id: int

    @property
    def length(self) -> int:
        """The tokens of the longest text, its EOS counted."""
        return max(map(len, self.text_ids)) + 1


def read_labelled(
    path: str | Path,
    *,
    num_texts: int = 1,
    columns: Sequence[Column] | None = None,
    separator: str = "tab",
    header: bool = False,
) -> Iterator[LabelledText]:
    """Yield the labelled texts of a file.

    Args:
        path: the file, as `read_file` takes it.
        num_texts: how many texts share a label, 1 or 2.
        columns: the columns of the label and then of each text, numbers from 1 or names of the header row. If None,
            those that a header row names; without one 1, 2 (and 3), and then there may be no others.
        separator: ``tab``; or ``space`` for a label, a blank and one text, as sentiment corpora are published.
        header: whether the first line has the columns' names, and is skipped; it is where a column is named, and where
            all its cells are names that columns have, as label and text.

    Raises:
        ConfigError: columns, texts and separator do not go together.
        DataError: the file cannot be read, or a line has too few columns or too many, no label, or a blank text.
    """
    _check_num_texts(num_texts)
    wanted = _wanted(columns, range(1, num_texts + 2), "the label and then each text")
    if separator == "space" and wanted != (1, 2):
        raise ConfigError(
            f'separator = "space" is for a label followed by one text, so columns {list(wanted)} are impossible; '
            "leave the columns out, or separate them by tabs"
        )
    origin = shown(path)
    if is_json_lines(path):
        yield from _read_json_labels(path, columns, num_texts)
        return
    first, lines = look_ahead(read_file(path))
    layout = inspect_lines(first)
    if columns is None and separator == "tab" and layout.is_vertical:
        raise vertical_error(path)
    exact = columns is None
    if separator == "tab" and layout.has_header:
        header = True
        found = _columns_below(layout, num_texts) if columns is None else None
        if found is not None:
            wanted, exact = found, False
    rows = read_columns(
        path,
        wanted,
        separator=separator,
        header=header,
        exact=exact,
        remedy=lambda cells: _remedy(cells, wanted),
        lines=lines,
    )
    for number, (label, *texts) in rows:
        place = Place(origin, number)
        if not label.strip():
            raise DataError(f"{place}: the label is blank; write one, or leave the line out")
        for column, text in zip(wanted[1:], texts, strict=True):
            if not text.strip():
                raise DataError(
                    f"{place}: the text in column {column} is blank; leave the line out, or name "
                    "another column"
                )
        yield LabelledText(label.strip(), tuple(texts), place)


def _columns_below(layout: Layout, num_texts: int) -> tuple[int, ...] | None:
    """The columns of the label and of each text below a header; None where it does not say them."""
    label = layout.header.get("label")
    if label is None:
        return None
    if num_texts == 1 and "text" in layout.header:
        return label, layout.header["text"]
    texts = [column for column in range(1, layout.num_columns + 1) if column != label]
    return (label, *texts) if len(texts) == num_texts else None


def _read_json_labels(
    path: str | Path, columns: Sequence[Column] | None, num_texts: int
) -> Iterator[LabelledText]:
    """Labelled texts of JSON lines; a label may be a number or a truth value, as 1 or true."""
    texts = ("text",) if num_texts == 1 else ("text1", "text2")
    label, *texts_named = name_members(path, columns, ("label", *texts))
    for number, value in read_json_lines(path, texts_named):
        place, found = Place(shown(path), number), value.get(label)
        if label not in value:
            raise DataError(
                f"{place}: no label named {label!r}; name label and text with --columns, as --columns {label} "
                f"{' '.join(texts_named)}"
            )
        if not isinstance(found, str | int) or not str(found).strip():
            raise DataError(
                f"{place}: {json.dumps(found):.60} is no label; write a text, a whole number, true or false, or leave "
                "the line out"
            )
        if not all(value[name].strip() for name in texts_named):
            raise DataError(f"{place}: a blank text; leave the line out, or name another with --columns")
        written = str(found).lower() if isinstance(found, bool) else str(found).strip()
        yield LabelledText(written, tuple(value[name] for name in texts_named), place)


def read_texts(
    path: str | Path,
    *,
    num_texts: int = 1,
    columns: Sequence[Column] | None = None,
    labels: Collection[str] = (),
) -> Iterator[tuple[str, ...]]:
    """Yield the texts to classify, one tuple for each line, blank ones too.

    Args:
        path: the file, as `read_file` takes it.
        num_texts: how many texts are classified together, 1 or 2.
        columns: their columns between tabs, as for `read_labelled`. If None, one text is the whole line, with a tab in
            it here and there, and two are columns 1 and 2, and there may be no others.
        labels: those of the model: lines of nothing else are no texts.

    Raises:
        ConfigError: columns and texts do not go together.
        DataError: the file cannot be read, has columns where one text is the whole line, or only labels, or a line has
            too few columns or too many.
    """
    _check_num_texts(num_texts)
    if num_texts == 1 and columns is None:
        remedy = "name the column of the text: --column 1, or --column 2 after labels"
        for line in read_plain(path, remedy, lambda first: refuse_labels(path, first, labels)):
            yield (line,)
        return
    wanted = _wanted(columns, range(1, num_texts + 1), "each text")
    refuse_json_lines(path)
    options = " ".join(f"{name} {k + 1}" for k, name in enumerate(_COLUMN_OPTIONS[:num_texts]))
    first, lines = look_ahead(read_file(path))
    has_header = inspect_lines(first).has_header or number_columns(path, wanted, first)[1]
    if has_header:
        yield ("",) * num_texts
    rows = read_columns(
        path,
        wanted,
        header=has_header,
        lines=lines,
        blank=True,
        exact=columns is None,
        remedy=lambda _: (
            f"name the {'columns of the texts' if num_texts == 2 else 'column of the text'}, as {options}"
        ),
    )
    for _, texts in rows:
        yield texts


def refuse_labels(path: str | Path, lines: Sequence[str], labels: Collection[str]) -> None:
    """Raise where several lines have nothing but labels, so that they are not what is to be labelled.

    Args:
        path: for the message.
        lines: the first ones.
        labels: classes or tags.

    Raises:
        DataError: each of them is a label, or every word of it is.
    """
    real = [line.strip() for line in lines if line.strip()]
    if len(real) > 1 and all(line in labels or all(map(labels.__contains__, line.split())) for line in real):
        raise DataError(
            f"{shown(path)}: labels ({', '.join(list(dict.fromkeys(real))[:3])}) where text is expected; name the file "
            "of the texts"
        )


def encode_labelled(
    examples: Iterable[LabelledText], tokenizer: Tokenizer, labels: Labels
) -> Iterator[EncodedLabelled]:
    """Yield each example's ids, one for one, tokenising a few thousand at a time.

    Raises:
        DataError: a label is not in `labels`.
    """
    for chunk in group_by_size(examples, _CHUNK, lambda example: sum(map(len, example.texts))):
        ids = iter(tokenizer.encode_batch([text for example in chunk for text in example.texts]))
        for example in chunk:
            own = tuple(islice(ids, len(example.texts)))
            yield EncodedLabelled(own, labels.id_of(example.label, example.place))


def _check_num_texts(num_texts: int) -> None:
    if num_texts not in _NUM_TEXTS:
        raise ConfigError(f"{num_texts} texts cannot be classified together; give 1, or 2 for pairs")


def _remedy(cells: Sequence[str], wanted: Sequence[Column]) -> str:
    """The remedy for a line of labelled texts with too few or too many columns."""
    naming = f"name the columns, as {named(range(1, len(wanted) + 1))}"
    if len(cells) == 1 and len(wanted) == 2 and len(cells[0].split()) > 1:
        return (
            "if a space separates label and text: --set data.separator=space to train, --separator space to "
            "evaluate"
        )
    if len(cells) > len(wanted) == 2:
        return f"for two texts set model.num_texts = 2, or {naming}"
    return naming


def _wanted(columns: Sequence[Column] | None, default: range, meaning: str) -> tuple[Column, ...]:
    if columns is None:
        return tuple(default)
    if len(columns) != len(default):
        raise ConfigError(
            f"columns {list(columns)}: {len(default)} are needed, for {meaning}; for instance {list(default)}"
        )
    return tuple(parse_column(column) for column in columns)
