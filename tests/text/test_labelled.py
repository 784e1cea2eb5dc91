"""Labelled texts: in order, whole, with a place; blank ones refused to learn from and kept to classify."""

import pytest

from regard.errors import ConfigError, DataError
from regard.text import (
    EncodedLabelled,
    LabelledText,
    Labels,
    Place,
    encode_labelled,
    learn,
    read_labelled,
    read_texts,
)


def write(tmp_path, text):
    path = tmp_path / "data"
    path.write_text(text, encoding="utf-8")
    return path


def test_label_first_then_the_text(tmp_path):
    path = write(tmp_path, "good\tnice film\nbad\tdull , dull\textra\n")
    assert list(read_labelled(path)) == [
        LabelledText("good", ("nice film",), Place(str(path), 1)),
        LabelledText("bad", ("dull , dull",), Place(str(path), 2)),
    ]


def test_two_texts_in_any_columns_below_a_header(tmp_path):
    path = write(tmp_path, "id\ta\tb\tjudgment\n1\tA man sits\tNobody sits\tNO\n")
    [one] = read_labelled(path, num_texts=2, columns=(4, 2, 3), header=True)
    assert (one.label, one.texts, str(one.place)) == ("NO", ("A man sits", "Nobody sits"), f"{path}:2")


def test_a_label_a_blank_and_a_text(tmp_path):
    path = write(tmp_path, "1 a stirring , funny film\n0 dull\n")
    found = [(one.label, *one.texts) for one in read_labelled(path, separator="space")]
    assert found == [("1", "a stirring , funny film"), ("0", "dull")]


def test_nothing_blank_is_learnt_from(tmp_path):
    with pytest.raises(DataError, match=r"data:2: the text in column 2 is blank.*leave the line out"):
        list(read_labelled(write(tmp_path, "x\ta\ny\t \n")))
    with pytest.raises(DataError, match=r"data:1: the text in column 3 is blank"):
        list(read_labelled(write(tmp_path, "x\ta\t\n"), num_texts=2))
    with pytest.raises(DataError, match=r"data:1: the label is blank"):
        list(read_labelled(write(tmp_path, " \ta\n")))
    with pytest.raises(DataError, match=r"data:2: 1 column where columns 1 and 2 are wanted"):
        list(read_labelled(write(tmp_path, "x\ta\n\n")))


def test_options_that_do_not_go_together(tmp_path):
    path = write(tmp_path, "x\ta\n")
    with pytest.raises(
        ConfigError, match=r"columns \[1, 2\]: 3 are wanted, for the label and then each text"
    ):
        list(read_labelled(path, num_texts=2, columns=(1, 2)))
    with pytest.raises(ConfigError, match="3 texts cannot be classified together"):
        list(read_labelled(path, num_texts=3))
    with pytest.raises(ConfigError, match='separator = "space" parts a label from one text'):
        list(read_labelled(path, num_texts=2, separator="space"))
    with pytest.raises(
        ConfigError, match=r"columns \[1\]: 2 are wanted, for each text; for instance \[1, 2\]"
    ):
        list(read_texts(path, num_texts=2, columns=(1,)))


def test_as_many_texts_to_classify_as_lines(tmp_path):
    path = write(tmp_path, "\na\tb\n \n")
    assert list(read_texts(path)) == [("",), ("a\tb",), (" ",)], "the whole line, tabs and all"
    pairs = write(tmp_path, "\t\na\tb\n")
    assert list(read_texts(pairs, num_texts=2)) == [("", ""), ("a", "b")]
    assert list(read_texts(pairs, columns=(2,))) == [("",), ("b",)]


def test_examples_become_ids_one_for_one(monkeypatch):
    monkeypatch.setattr("regard.text.labelled._CHUNK", 1)
    tokenizer = learn("word", ["a b c"], size=20)
    labels = Labels(["no", "yes"])
    examples = [LabelledText("yes", ("a b", "c")), LabelledText("no", ("b", ""))]
    a, b, c = tokenizer.encode("a b c")
    encoded = list(encode_labelled(examples, tokenizer, labels))
    assert encoded == [EncodedLabelled(([a, b], [c]), 1), EncodedLabelled(([b], []), 0)]
    assert [one.length for one in encoded] == [3, 2]
    with pytest.raises(DataError, match=r"^f:9: the label 'maybe' was not in the training data"):
        list(encode_labelled([LabelledText("maybe", ("a",), Place("f", 9))], tokenizer, labels))
