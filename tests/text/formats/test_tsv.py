import pytest

from regard.errors import ConfigError, DataError
from regard.text.formats import read_tsv


def write(tmp_path, text):
    path = tmp_path / "pairs.tsv"
    path.write_text(text, encoding="utf-8")
    return path


def test_first_two_columns_unless_told(tmp_path):
    path = write(tmp_path, 'a b\t"c\t1\n\t\t\n x \ty\t3\n')
    assert list(read_tsv(path)) == [("a b", '"c'), ("", ""), (" x ", "y")]


def test_any_two_columns_in_any_order(tmp_path):
    path = write(tmp_path, "a\tb\tc\nd\te\tf\n")
    assert list(read_tsv(path, (3, 1))) == [("c", "a"), ("f", "d")]


def test_too_few_columns_names_the_place_and_shows_the_line(tmp_path):
    path = write(tmp_path, "a\tb\n" + "no tab here " * 20 + "\n")
    pairs = read_tsv(path)
    assert next(pairs) == ("a", "b")
    with pytest.raises(DataError) as caught:
        next(pairs)
    message = str(caught.value)
    assert message.startswith(
        f"{path}:2: 1 column where columns 1 and 2 are needed, separated by tabs: 'no tab here no"
    )
    assert message.endswith(
        "…'; name the columns, as --columns 1 2 (data.columns = [1, 2]), or give two parallel files"
    )
    assert len(message) < len(str(path)) + 230


def test_third_column_missing(tmp_path):
    with pytest.raises(DataError, match=r":1: 2 columns where columns 1 and 3 are needed"):
        list(read_tsv(write(tmp_path, "a\tb\n"), (1, 3)))


def test_columns_count_from_one(tmp_path):
    with pytest.raises(ConfigError, match="columns are counted from 1, so 0 and 1 are illegal") as caught:
        list(read_tsv(write(tmp_path, "a\tb\n"), (0, 1)))
    assert str(caught.value).endswith("as --columns 1 2 (data.columns = [1, 2])")
