import lzma

import pytest

from regard.errors import ConfigError, DataError
from regard.text.formats import read_columns


def write(tmp_path, text):
    path = tmp_path / "table"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_wanted_cells_in_the_wanted_order_with_their_lines(tmp_path):
    path = write(tmp_path, 'a\tb\t"c\nd\t\tf g\n')
    assert list(read_columns(path, (3, 1))) == [(1, ('"c', "a")), (2, ("f g", "d"))]
    assert list(read_columns(path, (2,))) == [(1, ("b",)), (2, ("",))]


def test_a_header_is_passed_over_and_lines_keep_their_numbers(tmp_path):
    path = write(tmp_path, "label\ttext\n1\tone\n")
    assert list(read_columns(path, (1, 2), header=True)) == [(2, ("1", "one"))]


def test_a_blank_parts_the_first_column_from_all_the_rest(tmp_path):
    path = write(tmp_path, "1 a b\tc\n0  d\n")
    assert list(read_columns(path, (1, 2), separator="space")) == [(1, ("1", "a b\tc")), (2, ("0", "d"))]


def test_compressed_files_are_read_as_any(tmp_path):
    path = tmp_path / "table.xz"
    path.write_bytes(lzma.compress(b"x\ty\n"))
    assert list(read_columns(path, (1, 2))) == [(1, ("x", "y"))]


def test_blank_lines_at_the_end_alone_are_passed_over(tmp_path):
    assert list(read_columns(write(tmp_path, "a\tb\n\n  \n"), (1, 2))) == [(1, ("a", "b"))]
    assert list(read_columns(write(tmp_path, "a\tb\n\t\n"), (1, 2))) == [(1, ("a", "b")), (2, ("", ""))]
    with pytest.raises(DataError, match=r"table:2: a blank line; remove it$"):
        list(read_columns(write(tmp_path, "a\tb\n\n\nc\td\n"), (1, 2)))
    kept = list(read_columns(write(tmp_path, "\na\tb\n\n"), (1, 2), blank=True))
    assert kept == [(1, ("", "")), (2, ("a", "b")), (3, ("", ""))]


def test_more_columns_than_are_read_are_refused_where_asked(tmp_path):
    path = write(tmp_path, "a\tb\nc\td\te\n")
    assert list(read_columns(path, (1, 2))) == [(1, ("a", "b")), (2, ("c", "d"))]
    with pytest.raises(DataError, match=r"table:2: 3 columns, and only columns 1 and 2 are read; count 3$"):
        list(read_columns(path, (1, 2), exact=True, remedy=lambda cells: f"count {len(cells)}"))


def test_refusals_name_the_line_what_was_found_and_what_to_write(tmp_path):
    path = write(tmp_path, "a\tb\n")
    with pytest.raises(DataError) as caught:
        list(read_columns(path, (1, 2, 3)))
    assert str(caught.value) == (
        f"{path}:1: 2 columns where columns 1, 2 and 3 are needed, separated by tabs: 'a\\tb'; name the columns of "
        "the texts, as --columns 1 2 --second-column 3 (to train, data.columns = [1, 2, 3])"
    )
    with pytest.raises(DataError, match="2 columns where column 4 is needed"):
        list(read_columns(path, (4,)))
    with pytest.raises(DataError, match=r"table:1: 1 column where .* separated by a space: 'word'"):
        list(read_columns(write(tmp_path, "word\n"), (1, 2), separator="space"))
    with pytest.raises(
        ConfigError, match=r"counted from 1, so 1, 0 and 2 are not allowed; .*--columns 1 2 --second-column 3"
    ):
        list(read_columns(path, (1, 0, 2)))
    with pytest.raises(ConfigError, match=r"separator: no 'tabs'; did you mean 'tab'\?"):
        list(read_columns(path, (1,), separator="tabs"))
