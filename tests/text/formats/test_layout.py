"""What the first lines say of a file: no table passes for text, and no text for a table."""

import pytest

from regard.errors import DataError
from regard.text.formats.layout import LOOKED_AT, inspect_lines, look_ahead, read_plain, split_features


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [""],
        ["one line"],
        ["a line with one\ttab"],  # there is no second line to say that it is a table
        ["plain", "a tab\there", "plain"],
        ["plain"] * 5 + ["a tab\there", "and\there"],
        ["\tindented"] * 20,
        ["trailing\t"] * 20,
        ["plain"] * LOOKED_AT + ["a\tb"] * LOOKED_AT,
    ],
)
def test_texts(lines):
    layout = inspect_lines(lines)
    assert not layout.is_table
    assert not layout.is_vertical


@pytest.mark.parametrize(
    ("lines", "columns"),
    [
        (["a\tb", "c\td"], 2),
        (["a\tb\tc"] * 3, 3),
        (["# a comment", "a\tb", "c\td"], 2),
        (["a\tb"] * 19 + ["broken"], 2),
        (["a\tb", "", "c d\te"], 2),
    ],
)
def test_tables(lines, columns):
    layout = inspect_lines(lines)
    assert layout.is_table
    assert not layout.is_vertical
    assert layout.num_columns == columns


@pytest.mark.parametrize(
    "lines",
    [
        ["The\tDT", "cat\tNN", "", "It\tPRP"],
        ["EU NNP B-NP B-ORG", "rejects VBZ B-VP O", "", "Peter NNP B-NP B-PER", "Blackburn NNP I-NP I-PER"],
        ["# sent_id = 1"] + [f"{n}\tword\tlemma\tNOUN\t_\t_\t0\troot\t_\t_" for n in (1, 2, 3)],
    ],
)
def test_one_word_per_line(lines):
    assert inspect_lines(lines).is_vertical


@pytest.mark.parametrize(
    "lines",
    [
        ["a b c", "", "d e f", "g h i", "j k l", "m n o"],  # equally long lines
        ["GO HOME", "", "SIT DOWN", "STAND UP", "GET OUT"],  # all in capitals
        ["the CIA", "", "the FBI knows", "an ox", "a UFO"],
    ],
)
def test_short_lines_are_no_tags(lines):
    assert not inspect_lines(lines).is_vertical


@pytest.mark.parametrize(
    ("cell", "features"),
    [
        ("pos=V,mood=IND", ("pos=V", "mood=IND")),
        ("V;PST;3;SG", ("V", "PST", "3", "SG")),
        ("Case=Nom|Number=Sing", ("Case=Nom", "Number=Sing")),
        (" V ; IN+ESS ", ("V", "IN+ESS")),
        ("mood={IND/COND/IMP}", ("mood={IND/COND/IMP}",)),
        ("", ()),
        (" ;", ()),
    ],
)
def test_features_are_split(cell, features):
    assert split_features(cell) == features


def test_a_header_names_source_and_features_or_every_column():
    assert inspect_lines(["lemma\tform\tfeatures"]).header == {"source": 1, "target": 2, "features": 3}
    assert inspect_lines(["Source\tMSD"]).header == {"source": 1, "features": 2}
    assert inspect_lines(["Source\ttarget"]).header == {"source": 1, "target": 2}
    assert inspect_lines(["#target\tsource"]).header == {"target": 1, "source": 2}
    assert inspect_lines(["id\tText\tlabel"]).header == {"text": 2, "label": 3}
    assert inspect_lines(["English\tGerman"]).has_header
    for line in ("lemma\tword\tfeatures", "run\tV;PST\tran", "label\tun label", "text", "form\tform"):
        assert inspect_lines([line]).header == {}


def test_looking_ahead_changes_nothing():
    first, lines = look_ahead(iter(map(str, range(LOOKED_AT + 50))))
    assert first == list(map(str, range(LOOKED_AT)))
    assert list(lines) == list(map(str, range(LOOKED_AT + 50)))


def test_a_bad_line_is_an_error_in_its_place(tmp_path):
    (tmp_path / "a").write_bytes(b"fine\n\xff\n")
    lines = read_plain(tmp_path / "a", "")
    assert next(lines) == "fine"
    with pytest.raises(DataError, match="a:2: byte 0xff"):
        next(lines)


def test_plain_text_is_read_as_it_is_and_tables_are_refused(tmp_path):
    (tmp_path / "a").write_text("one\n\n a tab\there\n")
    assert list(read_plain(tmp_path / "a", "cut it")) == ["one", "", " a tab\there"]
    (tmp_path / "b").write_text("a\tb\nc\td\n")
    with pytest.raises(
        DataError, match=r"b: 2 columns, separated by tabs, where plain text is expected; cut it"
    ):
        next(read_plain(tmp_path / "b", "cut it"))
