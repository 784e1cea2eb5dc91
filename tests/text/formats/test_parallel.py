import gzip
from itertools import islice

import pytest

from regard.errors import ConfigError, DataError
from regard.text.formats import read_parallel


def test_line_by_line_blank_ones_too(tmp_path):
    (tmp_path / "a").write_text("1\n\n3\n", encoding="utf-8")
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"x\ny\n"))
    with pytest.raises(DataError):
        list(read_parallel(tmp_path / "a", tmp_path / "b.gz"))
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"x\ny\n\n"))
    assert list(read_parallel(tmp_path / "a", tmp_path / "b.gz")) == [("1", "x"), ("", "y"), ("3", "")]


@pytest.mark.parametrize(("lines_a", "lines_b"), [(2, 5), (5, 2), (0, 1), (1, 0)])
def test_unequal_sides_name_both_counts(tmp_path, lines_a, lines_b):
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text("\n" * lines_a, encoding="utf-8")
    b.write_text("x\n" * lines_b, encoding="utf-8")
    pairs = read_parallel(a, b)
    assert list(islice(pairs, min(lines_a, lines_b))) == [("", "x")] * min(lines_a, lines_b)
    with pytest.raises(DataError) as caught:
        next(pairs)
    assert f"{a} has {lines_a} lines and {b} has {lines_b};" in str(caught.value)


def test_what_lines_are_to_each_other_is_named(tmp_path):
    (tmp_path / "a").write_text("1\n", encoding="utf-8")
    (tmp_path / "b").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="; a source and its translation are on lines"):
        list(read_parallel(tmp_path / "a", tmp_path / "b"))
    with pytest.raises(DataError, match="; words and their tags are on lines"):
        list(read_parallel(tmp_path / "a", tmp_path / "b", belonging="words and their tags"))


def test_standard_input_cannot_be_both():
    with pytest.raises(ConfigError, match="cannot both be standard input"):
        list(read_parallel("-", "-"))


def test_nothing_is_read_ahead(tmp_path):
    (tmp_path / "a").write_bytes(b"fine\n\xff\n")
    (tmp_path / "b").write_bytes(b"fine\nx\n")
    pairs = read_parallel(tmp_path / "a", tmp_path / "b")
    assert next(pairs) == ("fine", "fine")
    with pytest.raises(DataError, match="a:2: byte 0xff"):
        next(pairs)
