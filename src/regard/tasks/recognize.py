"""Which task a training file is for, where it says so.

In: the first lines of the files. Out: the task, with the options its layout needs, such as the order of columns; or an
error that asks for ``--task`` where the file can be read in several ways. Knows nothing of models.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from regard.errors import DataError
from regard.text.formats import STDIN, inspect_lines, is_json_lines, read_file, read_json_lines
from regard.text.formats.layout import CONLLU_COLUMNS, Column, number_columns
from regard.text.pairs import find_pair_columns

_MAX_LINES = 2_000
_MAX_LABELS = 50
_MIN_REPEATS = 5  # how often a label occurs on average
_FEW_LINES = 100
_MAX_STARTS = 10
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
        return _recognize_json(files[0])
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


def _recognize_json(path: str) -> Recognized:
    """By the names in the first object of JSON lines."""
    _, first = next(read_json_lines(path, ()), (0, {}))
    if {"source", "target"} <= first.keys():
        return Recognized("translate", "JSON lines with source and target")
    if "text" in first:
        return Recognized("language_model", "JSON lines with text")
    raise DataError(f'{path}: no JSON lines with "source" and "target", or "text"; name the texts so')


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
        raise DataError(f"{place}: an empty corpus, without a line of text; name a file with some")
    if _have_features(text, place):
        return Recognized("translate", "lemma, features and form")
    if _is_vertical(lines):
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
        raise DataError(
            f"{place}: {width} columns, and it is not said which are which; name those of source and target, as "
            "--columns 1 2 (and --features 2 for those of a lemma), or the task, as --task classify --set "
            "model.num_texts=2 for a label and two texts"
        )
    first, second = (list(column) for column in zip(*(line.split("\t") for line in text), strict=True))
    if _are_labels(first, second):
        return Recognized("classify", f"{len(set(first))} labels, each with many texts")
    if _are_labels(second, first):
        reason = f"{len(set(second))} labels, each with many texts, in the second column"
        return Recognized("classify", reason, {"data": {"columns": [2, 1]}})
    return Recognized("translate", "two columns")


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
    parts = [line.split(maxsplit=1) for line in text]
    starts = sorted({words[0] for words in parts})
    if len(text) >= _FEW_LINES and len(starts) <= _MAX_STARTS and all(len(words) > 1 for words in parts):
        raise DataError(
            f"{place}: every line begins with one of {len(starts)} words ({', '.join(starts[:3])}, …): it may be text, "
            "or labels and texts separated by a blank; name the task: --task language_model, or --task classify --set "
            "data.separator=space"
        )
    return Recognized("language_model", "one column of text")


def _are_labels(labels: Sequence[str], texts: Sequence[str]) -> bool:
    """Few different ones, each many times, beside texts that are mostly different."""
    num_labels = len(set(labels))
    repeated = 2 <= num_labels <= _MAX_LABELS and len(labels) >= _MIN_REPEATS * num_labels
    return repeated and len(set(texts)) > max(5 * num_labels, len(texts) // 2)
