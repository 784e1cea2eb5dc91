"""Labelled texts: in order, whole, with a place; blank ones refused to learn from and kept to classify."""

import pytest

from regard.errors import ConfigError, DataError
from regard.text import (
    EncodedLabelled,
    LabelledText,
    Labels,
    Place,
    encode_labelled,
    read_labelled,
    read_texts,
    train_tokenizer,
)


def write(tmp_path, text):
    path = tmp_path / "data"
    path.write_text(text, encoding="utf-8")
    return path


def test_label_first_then_the_text(tmp_path):
    path = write(tmp_path, "good\tnice film\nbad\tdull , dull\n")
    assert list(read_labelled(path)) == [
        LabelledText("good", ("nice film",), Place(str(path), 1)),
        LabelledText("bad", ("dull , dull",), Place(str(path), 2)),
    ]


@pytest.mark.parametrize(
    ("lines", "num_texts", "texts"),
    [
        ("premise\thypothesis\tlabel\na b\tc\tyes\n", 2, ("a b", "c")),
        ("question\tlabel\na b\tyes\n", 1, ("a b",)),
        ("id\tlabel\tsentence\n1\tyes\ta b\n", 1, ("a b",)),
    ],
)
def test_the_label_is_where_the_header_says(tmp_path, lines, num_texts, texts):
    (tmp_path / "a.tsv").write_text(lines)
    [one] = read_labelled(tmp_path / "a.tsv", num_texts=num_texts)
    assert (one.label, one.texts) == ("yes", texts)


def test_a_header_that_names_too_little_is_no_choice(tmp_path):
    (tmp_path / "a.tsv").write_text("id\tpremise\thypothesis\tlabel\n1\ta b\tc\tyes\n")
    with pytest.raises(DataError, match="4 columns, and only columns 1, 2 and 3 are read"):
        list(read_labelled(tmp_path / "a.tsv", num_texts=2))


def test_two_texts_in_any_columns_below_a_header(tmp_path):
    path = write(tmp_path, "id\ta\tb\tjudgment\n1\tA man sits\tNobody sits\tNO\n")
    [one] = read_labelled(path, num_texts=2, columns=(4, 2, 3), header=True)
    names = path.read_text(encoding="utf-8").split("\n")[0].split("\t")
    assert [one] == list(read_labelled(path, num_texts=2, columns=[names[k - 1] for k in (4, 2, 3)]))
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
    with pytest.raises(DataError, match=r"data:2: a blank line; remove it"):
        list(read_labelled(write(tmp_path, "x\ta\n\ny\tb\n")))
    assert len(list(read_labelled(write(tmp_path, "x\ta\n\n")))) == 1, "the end of a file may be blank"


def test_no_text_is_left_unread_in_silence(tmp_path):
    path = write(tmp_path, "yes\ta man sits\tsomebody sits\n")
    with pytest.raises(DataError) as caught:
        list(read_labelled(path))
    assert str(caught.value) == (
        f"{path}:1: 3 columns, and only columns 1 and 2 are read; for two texts set model.num_texts = 2, or name the "
        "columns, as --columns 1 2 (data.columns = [1, 2])"
    )
    assert [one.texts for one in read_labelled(path, columns=(1, 2))] == [("a man sits",)]
    assert [one.texts for one in read_labelled(path, num_texts=2)] == [("a man sits", "somebody sits")]
    more = write(tmp_path, "yes\ta\tb\t17\n")
    with pytest.raises(DataError, match=r"4 columns, and only columns 1, 2 and 3 are read; name .*column 3"):
        list(read_labelled(more, num_texts=2))
    with pytest.raises(
        DataError,
        match=r"only columns 1 and 2 are read; name the columns of .* --column 1 --second-column 2$",
    ):
        list(read_texts(more, num_texts=2))
    assert list(read_texts(more, num_texts=2, columns=(2, 3))) == [("a", "b")]


def test_a_blank_that_parts_label_and_text_is_recognised(tmp_path):
    path = write(tmp_path, "1 a stirring film\n")
    with pytest.raises(
        DataError, match=r"--set data.separator=space to train, --separator space to evaluate$"
    ):
        list(read_labelled(path))
    with pytest.raises(DataError, match=r"name the columns, as --columns 1 2 \(data.columns = \[1, 2\]\)$"):
        list(read_labelled(write(tmp_path, "word\n")))


def test_a_line_to_classify_with_too_few_columns_names_the_options(tmp_path):
    path = write(tmp_path, "alone\n")
    with pytest.raises(
        DataError, match=r"1 column .*; name the columns of the texts, as --column 1 --second-column 2$"
    ):
        list(read_texts(path, num_texts=2))
    with pytest.raises(DataError, match=r"1 column .*; name the column of the text, as --column 1$"):
        list(read_texts(path, columns=(2,)))


def test_options_that_do_not_go_together(tmp_path):
    path = write(tmp_path, "x\ta\n")
    with pytest.raises(
        ConfigError, match=r"columns \[1, 2\]: 3 are needed, for the label and then each text"
    ):
        list(read_labelled(path, num_texts=2, columns=(1, 2)))
    with pytest.raises(ConfigError, match="3 texts cannot be classified together"):
        list(read_labelled(path, num_texts=3))
    with pytest.raises(ConfigError, match='separator = "space" is for a label followed by one text'):
        list(read_labelled(path, num_texts=2, separator="space"))
    with pytest.raises(
        ConfigError, match=r"columns \[1\]: 2 are needed, for each text; for instance \[1, 2\]"
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
    tokenizer = train_tokenizer("word", ["a b c"], size=20)
    labels = Labels(["no", "yes"])
    examples = [LabelledText("yes", ("a b", "c")), LabelledText("no", ("b", ""))]
    a, b, c = tokenizer.encode("a b c")
    encoded = list(encode_labelled(examples, tokenizer, labels))
    assert encoded == [EncodedLabelled(([a, b], [c]), 1), EncodedLabelled(([b], []), 0)]
    assert [one.length for one in encoded] == [3, 2]
    with pytest.raises(DataError, match=r"^f:9: the label 'maybe' was not in the training data"):
        list(encode_labelled([LabelledText("maybe", ("a",), Place("f", 9))], tokenizer, labels))
