"""CSV: columns by commas, semicolons or tabs; quotation marks; what is not CSV is an error."""

import gzip
import re

import pytest

from regard.errors import ConfigError, DataError
from regard.text import read_labelled, read_pairs
from regard.text.formats import read_file


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("a b,c\nd,e f\n", ["a b\tc", "d\te f"]),
        ('"a, b",c\r\n"say ""d""",e\r\n', ["a, b\tc", 'say "d"\te']),
        ("a, b;c\nd;e\n", ["a, b\tc", "d\te"]),
        ('a\tb, c\nd\t"e"\n', ["a\tb, c", "d\te"]),
        ("a\tb, c\nd\te\n", ["a\tb, c", "d\te"]),
        ('"one\ntwo",b\nc,d\n', ["one two\tb", "c\td"]),
        ("\ufeffa,b\nc,\n", ["a\tb", "c\t"]),
        ('"a, b", "c, d"\n"e, f", "g, h"\n', ["a, b\tc, d", "e, f\tg, h"]),
        ("a;b, c\nd;e, f\n", ["a\tb, c", "d\te, f"]),
        ("plain text\nof one column\n", ["plain text", "of one column"]),
        ('text\n"of one, column"\n"""a""; b"\n', ["text", "of one, column", '"a"; b']),
        ('"Yes" was plain\ntext\n', ['"Yes" was plain', "text"]),
        ("", []),
    ],
    ids=[
        "commas",
        "quotes",
        "semicolons",
        "tabs and quotes",
        "tabs",
        "line feed",
        "mark",
        "spaces",
        "as many commas",
        "text",
        "one column",
        "marks in text",
        "empty",
    ],
)
def test_rows(tmp_path, content, lines):
    path = tmp_path / "a.csv"
    path.write_bytes(content.encode())
    assert list(read_file(path)) == lines
    with gzip.open(tmp_path / "a.csv.gz", "wb") as file:
        file.write(content.encode())
    assert list(read_file(tmp_path / "a.csv.gz")) == lines


def test_other_files_keep_their_commas(tmp_path):
    (tmp_path / "a.txt").write_text("a,b\nc,d\n")
    assert list(read_file(tmp_path / "a.txt")) == ["a,b", "c,d"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "yes, a text\nno\nand, then, more\n",
            "neither commas, semicolons nor tabs separate the same number",
        ),
        ('a,"b"\nc,"d" e\n', "a.csv:2: not CSV"),
        ("a,b\n" * 70 + '"c,d\n' + "e,f\n" * 90, "a.csv:71: not CSV"),
        ('"a" is text\n"b, too\n', "neither commas"),
    ],
)
def test_not_comma_separated(tmp_path, content, message):
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(DataError, match=message):
        list(read_file(tmp_path / "a.csv"))


def test_pairs_and_labels(tmp_path):
    path, notes = tmp_path / "a.csv", []
    path.write_text('source,target\n"a, b",c\n')
    [pair] = read_pairs(path, listener=notes.append)
    assert (pair.source, pair.target) == ("a, b", "c")
    assert "the first line names the columns, and is left out" in notes[0]
    path.write_text('text,label\n"a, b",good\n')
    [example] = read_labelled(path)
    assert (example.label, example.texts) == ("good", ("a, b",))


def test_a_header_gives_the_columns_their_order(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("id\ttarget\tsource\n1\tb\ta\n")
    [pair] = read_pairs(path)
    assert (pair.source, pair.target) == ("a", "b")


def test_json_lines_by_name(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"en": "a", "de": "b", "label": 1}\n')
    [pair] = read_pairs(path, columns=("en", "de"))
    assert (pair.source, pair.target) == ("a", "b")
    [example] = read_labelled(path, columns=("label", "de"))
    assert (example.label, example.texts) == ("1", ("b",))
    with pytest.raises(DataError, match="no label named 'none'; name label and text with --columns"):
        list(read_labelled(path, columns=("none", "de")))
    path.write_text('{"text": "a", "label": true}\n{"text": "b", "label": "true "}\n')
    assert [example.label for example in read_labelled(path)] == ["true", "true"]
    for label in ("null", "0.5", '" "', '["a"]'):
        path.write_text(f'{{"text": "a", "label": {label}}}\n')
        with pytest.raises(DataError, match=rf"a.jsonl:1: {re.escape(label)} is no label; write a text"):
            list(read_labelled(path))
    with pytest.raises(ConfigError, match="names and no numbers"):
        list(read_pairs(path, columns=(1, 2)))


def test_features_of_json_lines_are_there_if_they_are_named(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"source": "run", "target": "ran", "msd": "V;PST"}\n')
    [pair] = read_pairs(path, features="msd")
    assert pair.features == ("V", "PST")
    with pytest.raises(DataError, match=r"a.jsonl:1: no features named 'mds'; did you mean 'msd'\?"):
        list(read_pairs(path, features="mds"))
