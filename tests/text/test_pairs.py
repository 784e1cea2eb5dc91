import pytest

from regard.errors import ConfigError
from regard.text import Place, SentencePair, read_lines, read_pairs


def test_two_paths_are_parallel_files(tmp_path):
    (tmp_path / "s").write_text("a\tb\n\n", encoding="utf-8")
    (tmp_path / "t").write_text("x\ny\n", encoding="utf-8")
    origin = str(tmp_path / "s")
    assert list(read_pairs(tmp_path / "s", tmp_path / "t")) == [
        SentencePair("a\tb", "x", Place(origin, 1)),
        SentencePair("", "y", Place(origin, 2)),
    ]


def test_one_path_is_tab_separated(tmp_path):
    (tmp_path / "p").write_text("a\tb\tc\n", encoding="utf-8")
    [pair] = read_pairs(tmp_path / "p")
    assert (pair.source, pair.target, str(pair.place)) == ("a", "b", f"{tmp_path / 'p'}:1")
    [pair] = read_pairs(tmp_path / "p", columns=(3, 2))
    assert (pair.source, pair.target) == ("c", "b")


def test_columns_of_parallel_files_make_no_sense():
    with pytest.raises(ConfigError, match=r"--columns 1 3 \(data\.columns = \[1, 3\]\) belongs to one"):
        list(read_pairs("s", "t", columns=(1, 3)))


def test_as_many_lines_out_as_in(tmp_path):
    (tmp_path / "a").write_text("\n\none\n \n", encoding="utf-8")
    (tmp_path / "b").write_text("two", encoding="utf-8")
    assert list(read_lines([tmp_path / "a", tmp_path / "b"])) == ["", "", "one", " ", "two"]
    assert list(read_lines([])) == []


def test_files_are_read_as_they_are_needed(tmp_path):
    (tmp_path / "a").write_text("one\n", encoding="utf-8")
    assert next(read_lines([tmp_path / "a", tmp_path / "missing"])) == "one"
