"""Which task a training file is for, where it says so.

In: the first lines of the files. Out: the task, with the options its layout needs, such as the order of columns; or an
error that asks for ``--task`` where the file can be read in several ways. Knows nothing of models.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from regard.errors import DataError
from regard.io import parse_json
from regard.text.formats import STDIN, inspect_lines, is_json_lines, read_file, read_json_lines
from regard.text.formats.comma_separated import DELIMITERS, find_delimiter, is_comma_separated
from regard.text.formats.files import COMPRESSED
from regard.text.formats.layout import CONLLU_COLUMNS, TAG, Column, Layout, number_columns
from regard.text.pairs import find_pair_columns

_MAX_LINES = 2_000
_MAX_LABELS = 50
_MIN_REPEATS = 5  # how often a label occurs on average
_FEW_LINES = 100
_MAX_STARTS = 10
_TIMES_TAGS = 3  # as many different words as tags, at least
_MIN_QUOTED = 10
_MOSTLY = 0.9
_VARIANT = re.compile(r"\([0-9]+\)$")  # of a word with several pronunciations, in CMUdict
_COMMENT = re.compile(r"\s+#.*")  # after an entry, there; in its older versions whole lines are, after ;;;
_SHOWN = 20  # characters of a cell,
_MANY = 6  # and cells
_NUMBERS = ("", "id", "index", "idx", "no")  # names of columns that number the lines
_FEATURES = (".npy", ".arrow", ".feather", ".parquet")


@dataclass(frozen=True)
class Recognized:
    """What a file says.

    Attributes:
        task: a name of `TASKS`.
        reason: how it is known, in a few words.
        options: what its layout needs, as nested tables.
    """

    task: str
    reason: str
    options: Mapping[str, Any] = field(default_factory=dict)


def recognize_task(
    files: Sequence[str], *, columns: Sequence[Column] = (), features: bool = False
) -> Recognized:
    """Recognise the task of training files.

    Args:
        files: as ``--train`` names them.
        columns: those named by hand, so that any number of them is fine: of source and target, of label and text, or
            of CoNLL-U.
        features: whether a column of features was named by hand.

    Raises:
        DataError: the file can be read in several ways, or cannot be read; the message names ``--task``.
    """
    if Path(files[0]).suffix.lower() in _FEATURES:
        return Recognized("caption", "feature vectors and their captions")
    if is_json_lines(files[0]):
        return _recognize_json(files[0], columns)
    if len(files) > 1 or are_read_once(files):
        return Recognized("translate", "two sides")
    lines = list(islice(read_file(files[0]), _MAX_LINES))
    if features:
        return Recognized("translate", "features beside a text")
    if columns:
        return _recognize_columns(files[0], columns, lines)
    return recognize_lines(lines, files[0])


def _recognize_columns(path: str, columns: Sequence[Column], lines: Sequence[str]) -> Recognized:
    """Recognise the task of a file of which columns are named.

    Raises:
        DataError: the first line does not have a name.
    """
    layout = inspect_lines(lines)
    if layout.is_vertical and layout.num_columns == CONLLU_COLUMNS:
        return Recognized("tag", "CoNLL-U", {"data": {"layout": "vertical"}})
    numbers, has_header = number_columns(path, columns, lines)
    rows = [line.split("\t") for line in lines[has_header:]]
    labels, texts = (
        [row[number - 1] for row in rows if len(row) >= max(numbers)] for number in (numbers * 2)[:2]
    )
    if min(numbers) > 0 and _are_labels(labels, texts):
        return Recognized("classify", f"{len(set(labels))} labels, each with many texts")
    return Recognized("translate", "two sides")


def _recognize_json(path: str, columns: Sequence[Column]) -> Recognized:
    """By the names in the first object of JSON lines, or by the values of those that are named."""
    objects = [value for _, value in islice(read_json_lines(path, ()), _MAX_LINES)]
    if not objects:
        raise _empty(path)
    names = list(objects[0])
    if columns:
        first, second = (
            [str(value.get(str(name))) for value in objects] for name in (columns[0], columns[-1])
        )
        if len(columns) > 2 or _are_labels(first, second):
            return Recognized("classify", f"JSON lines with {len(set(first))} labels, each with many texts")
        return Recognized("translate", "JSON lines with two texts")
    if {"source", "target"} <= set(names):
        return Recognized("translate", "JSON lines with source and target")
    if {"label", "text"} <= set(names):
        return Recognized("classify", "JSON lines with label and text")
    if "label" in names:
        raise DataError(
            f"{path}: JSON lines with a label, and other names than text ({', '.join(names)}); name label and text: "
            f"--columns label {next((name for name in names if name != 'label'), 'text')}"
        )
    if "text" in names:
        return Recognized("language_model", "JSON lines with text")
    example = " ".join((*names, "target")[:2]) if len(names) > 1 else "source target"
    raise DataError(
        f'{path}: no JSON lines with "source" and "target", "label" and "text", or "text" alone, but '
        f"{', '.join(names) or 'nothing'}; name the texts of a pair, as --columns {example}"
    )


def are_read_once(files: Sequence[str]) -> bool:
    """Whether one of the files is standard input or a pipe, so that looking at it would consume it."""
    return any(name == STDIN or Path(name).is_fifo() for name in files)


def recognize_lines(lines: Sequence[str], place: str) -> Recognized:
    """Recognise the task of one file.

    Args:
        lines: its first lines.
        place: what it is called in messages.

    Raises:
        DataError: it can be read in several ways.
    """
    text = [line for line in lines if line.strip()]
    if not text:
        raise _empty(place)
    if _have_features(text, place):
        return Recognized("translate", "lemma, features and form")
    layout, is_vertical = inspect_lines(text), _is_vertical(lines)
    if layout.has_header:
        if is_vertical and not {"source", "target"} <= layout.header.keys():
            raise DataError(
                f"{place}: one word and its tag per line below a line that names the columns; remove that line"
            )
        return _recognize_header(text, layout, place)
    if is_vertical:
        return Recognized(
            "tag",
            "one word and its tag per line, blank lines between sentences",
            {"data": {"layout": "vertical"}},
        )
    widths = {line.count("\t") + 1 for line in text}
    if len(widths) > 1:
        raise DataError(
            f"{place}: lines of {' and '.join(map(str, sorted(widths)[:3]))} columns; separate source and target by "
            "one tab on every line, or name the task: --task language_model for text with tabs in it"
        )
    (width,) = widths
    if width == 1:
        return _recognize_column(text, place)
    if width > 2:
        cells = " | ".join(
            cell if len(cell) <= _SHOWN else f"{cell[: _SHOWN - 1]}…" for cell in text[0].split("\t")[:_MANY]
        )
        raise DataError(
            f"{place}: {width} columns, and it is not said which are which (the first line: {cells}); name those of "
            "source and target, as --columns 1 2, by number or by the first line (and --features 2 for those of a "
            "lemma), or the task, as --task classify --set model.num_texts=2 for a label and two texts"
        )
    first, second = (list(column) for column in zip(*(line.split("\t") for line in text), strict=True))
    _refuse_quotes(first, second, place)
    if _are_tagged(first, second):
        return Recognized("tag", "two columns, of words and of as many tags")
    _refuse_unparted(first, second, place)
    _refuse_header(first, second, place)
    if _are_labels(first, second):
        return Recognized("classify", f"{len(set(first))} labels, each with many texts")
    if _are_labels(second, first):
        reason = f"{len(set(second))} labels, each with many texts, in the second column"
        return Recognized("classify", reason, {"data": {"columns": [2, 1]}})
    return Recognized("translate", "two columns")


def _empty(place: str) -> DataError:
    return DataError(f"{place}: an empty corpus, without a line of text; name a file with some")


def _recognize_header(text: Sequence[str], layout: Layout, place: str) -> Recognized:
    """A table whose first line names its columns."""
    why = "below a line that names the columns"
    rows = [cells for line in text[1:] if len(cells := line.split("\t")) == layout.num_columns]
    columns = [list(column) for column in zip(*rows, strict=True)]
    label, texts = layout.header.get("label"), layout.header.get("text")
    if label and texts:
        labels = len(set(columns[label - 1])) if columns else 0
        return Recognized(
            "classify", f"{labels} labels and texts, {why}", {"data": {"columns": [label, texts]}}
        )
    if {"source", "target"} <= layout.header.keys():
        return Recognized("translate", f"source and target, {why}")
    if len(columns) != 2:
        names = [cell.strip() for cell in text[0].split("\t")]
        example = [name for name in names if name.lower() not in _NUMBERS] or names
        raise DataError(
            f"{place}: {len(names)} columns ({', '.join(names)}), and it is not said which to read; name those of "
            f"source and target, or of label and text, as --columns {' '.join((example + names)[:2])}; or the task, as "
            "--task classify --set model.num_texts=2 for a label and two texts"
        )
    for order in ([1, 2], [2, 1]):
        if _are_labels(columns[order[0] - 1], columns[order[1] - 1]):
            reason = f"{len(set(columns[order[0] - 1]))} labels, each with many texts, {why}"
            return Recognized("classify", reason, {"data": {"columns": order}})
    if _are_tagged(columns[0], columns[1]):
        raise DataError(f"{place}: sentences and their tags below a header; remove its first line")
    return Recognized("translate", f"two columns, {why}")


def _are_tagged(words: Sequence[str], tags: Sequence[str]) -> bool:
    """Whether each line has as many tags as words, tags are few and look so, and most lines have several."""
    split = [(line.split(), its_tags.split()) for line, its_tags in zip(words, tags, strict=True)]
    if any(len(line) != len(its_tags) for line, its_tags in split):
        return False
    word_types = {word for line, _ in split for word in line}
    tag_types = {tag for _, its_tags in split for tag in its_tags}
    return (
        sum(len(line) for line, _ in split) > 2 * len(split)
        and _TIMES_TAGS * len(tag_types) <= len(word_types)
        and all(map(TAG.fullmatch, tag_types))
    )


def _refuse_unparted(words: Sequence[str], tags: Sequence[str], place: str) -> None:
    """Raise for one word and its tag per line, where no blank lines part sentences."""
    word_types, tag_types = set(words), set(tags)
    if (
        len(words) >= _FEW_LINES
        and len(tag_types) <= _MAX_LABELS
        and len(word_types) >= _TIMES_TAGS * len(tag_types)
        and len(words) >= _MIN_REPEATS * len(tag_types)
        and all(len(cell.split()) == 1 for cells in (word_types, tag_types) for cell in cells)
        and all(map(TAG.fullmatch, tag_types))
    ):
        raise DataError(
            f"{place}: one word and its tag per line, and no blank lines between sentences; put one after each "
            "sentence, or name the task: --task classify --columns 2 1 for words by themselves, --task translate for "
            "pairs"
        )


def _refuse_header(first: Sequence[str], second: Sequence[str], place: str) -> None:
    """Raise where the first line has a label that is on no other, though the others are on many."""
    for order, (labels, texts) in {"1 2": (first, second), "2 1": (second, first)}.items():
        if labels[0] not in labels[1:] and _are_labels(labels[1:], texts[1:]):
            raise DataError(
                f"{place}: {len(set(labels[1:]))} labels, each on many lines, and {labels[0]!r} on the first alone; "
                f"if it names the columns: --task classify --columns {order} --set data.header=true; if it is a "
                f"label: --task classify --columns {order}"
            )


def _refuse_quotes(first: Sequence[str], second: Sequence[str], place: str) -> None:
    """Raise where quotation marks enclose the texts, as in CSV."""
    cells = [*first, *second]
    quoted = sum(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in cells)
    if quoted >= max(_MIN_QUOTED, len(cells) * _MOSTLY) and len(first) > 1:
        raise DataError(
            f"{place}: quotation marks enclose the texts, as in CSV; name the file .csv, where they are no part of "
            "the text, or the task, as --task translate, where they are"
        )


def _refuse_json(text: Sequence[str], place: str) -> None:
    """Raise where the lines are JSON, by another name."""
    try:
        is_json = text[0].strip() in ("[", "{") or isinstance(parse_json(text[0]), dict | list)
    except ValueError:
        is_json = False
    if is_json:
        raise DataError(
            f"{place}: JSON; write one object per line (jq -c '.[]' for a list of them) and name the file .jsonl, or "
            "the task: --task language_model"
        )


def _refuse_delimiters(text: Sequence[str], place: str) -> None:
    """Raise where commas or semicolons separate columns, or bars do."""
    for bar in (" ||| ", "|||"):
        if len(text) > 1 and all(line.count(bar) == 1 for line in text):
            raise DataError(
                f"{place}: every line has two parts, separated by {bar.strip()}; separate them by a tab, as sed "
                "'s/ *||| */\\t/' does, or name the task: --task language_model"
            )
    if len(text) < _MIN_QUOTED or is_comma_separated(place, COMPRESSED):
        return
    delimiter = find_delimiter(text, min_rows=_MIN_QUOTED)
    if delimiter is not None:
        raise DataError(
            f"{place}: {DELIMITERS[delimiter]} separate the same number of columns on nearly every line; if they are "
            "columns, name the file .csv, or separate them by tabs; if it is text, name the task: --task language_model"
        )


def _have_features(text: Sequence[str], place: str) -> bool:
    """Whether one of three columns holds morphological features, as in UniMorph's and SIGMORPHON's files."""
    if any(line.count("\t") != 2 for line in text):
        return False
    try:
        return len(find_pair_columns(place, text).read) == 3
    except DataError:
        return False


def _is_vertical(lines: Sequence[str]) -> bool:
    """CoNLL: two columns or more of single words, blank lines between some, and in one column few different ones."""
    rows = [line for line in lines if line.strip() and not line.startswith("# ")]
    if not any(not line.strip() for line in lines[:-1]):
        return False
    cells = [line.split("\t") if "\t" in line else line.split() for line in rows]
    if len({len(row) for row in cells}) > 1 or len(cells[0]) < 2:
        return False
    num_tags = min(len(set(column)) for column in list(zip(*cells, strict=True))[1:])
    return (len(cells) < _FEW_LINES or 2 * num_tags <= len(cells)) and all(
        len(cell.split()) == 1 for row in cells for cell in row[:2]
    )


def _recognize_column(text: Sequence[str], place: str) -> Recognized:
    """Text; or a label, a blank and a text, which only a person can tell from it."""
    _refuse_json(text, place)
    _refuse_delimiters(text, place)
    parts = [line.split(maxsplit=1) for line in text]
    starts = sorted({words[0] for words in parts})
    if len(text) >= _FEW_LINES and len(starts) <= _MAX_STARTS and all(len(words) > 1 for words in parts):
        which = (
            f"one of {len(starts)} words ({', '.join(starts[:3])}, …)" if len(starts) > 1 else repr(starts[0])
        )
        raise DataError(
            f"{place}: every line begins with {which}: it may be text, "
            "or labels and texts separated by a blank; name the task: --task language_model, or --task classify --set "
            "data.separator=space"
        )
    _refuse_dictionary(text, place)
    return Recognized("language_model", "one column of text")


def _refuse_dictionary(text: Sequence[str], place: str) -> None:
    """Raise where each line is a word of its own and symbols that all lines share, as in CMUdict."""
    entries = [line for line in text if not line.startswith(";;;")]
    parts = [_COMMENT.sub("", line).split() for line in entries]
    if len(entries) < _FEW_LINES or min(map(len, parts)) < 2:
        return
    words = {_VARIANT.sub("", part[0]) for part in parts}
    symbols = [symbol for part in parts for symbol in part[1:]]
    if (
        len(words) > _MOSTLY * len(entries)
        and _MIN_REPEATS * len(set(symbols)) <= len(entries)
        and len(words.intersection(symbols)) <= (1 - _MOSTLY) * len(words)
    ):
        steps = [
            "/^;;;/d; " if len(entries) < len(text) else "",
            "s/ +#.*//; " if any(map(_COMMENT.search, entries)) else "",
            r"s/(\([0-9]+\))? +/\t/" if any(_VARIANT.search(part[0]) for part in parts) else r"s/ +/\t/",
        ]
        raise DataError(
            f"{place}: every line is a word and some of {len(set(symbols))} symbols, such as a pronunciation; separate "
            f"the two by a tab: sed -E '{''.join(steps)}' {shlex.quote(place)} > pairs.tsv; or name the task: --task "
            "language_model"
        )


def _are_labels(labels: Sequence[str], texts: Sequence[str]) -> bool:
    """Few different ones, each many times, beside texts that are mostly different."""
    num_labels = len(set(labels))
    repeated = 2 <= num_labels <= _MAX_LABELS and len(labels) >= _MIN_REPEATS * num_labels
    return repeated and len(set(texts)) > max(5 * num_labels, len(texts) // 2)
