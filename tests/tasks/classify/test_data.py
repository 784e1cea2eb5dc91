"""Labelled texts prepared: labels of all, words of the training part, and a note on what was left out."""

import pytest

from regard.errors import ConfigError, DataError
from regard.tasks.classify.config import LabelledDataConfig
from regard.tasks.classify.task import ClassifyTask, parse_labelled_texts, read_labelled_texts
from regard.text import LabelledText
from regard.training.configure import configure

TEXTS = [LabelledText("xyz"[k % 3], (f"w{k} w{k + 1}",)) for k in range(120)]


def prepared(train=TEXTS, valid=None, **data):
    return ClassifyTask(
        configure({"task": "classify", "tokenizer": {"text_size": 10_000}, "data": data}), train, valid
    ).prepared


def test_some_of_each_label_are_split_off():
    made = prepared()
    assert made.labels == ("x", "y", "z")
    assert (len(made.train), len(made.valid)) == (114, 6)
    assert sorted(example.label_id for example in made.valid) == [0, 0, 1, 1, 2, 2]
    assert made.notes == ("no validation texts given: 6 of the training texts are split off for validation",)


def test_equal_texts_stay_together():
    made = prepared([*TEXTS, *TEXTS])
    train = {tuple(example.text_ids[0]) for example in made.train}
    # an unknown word is in no training text, so no validation text can be equal to one
    assert (len(made.train), len(made.valid)) == (228, 12)
    assert not [example for example in made.valid if tuple(example.text_ids[0]) in train]


def test_given_ones_are_validated_with():
    made = prepared(TEXTS, [LabelledText("z", ("w1 unheard",))])
    assert (len(made.train), made.notes) == (120, ())
    [one] = made.valid
    assert (one.label_id, made.tokenizers["text"].decode(one.text_ids[0])) == (2, "w1 <unk>")


def test_long_ones_are_left_out_and_counted():
    made = prepared([*TEXTS, LabelledText("x", ("w1 " * 9,))], TEXTS[:2], max_length=8)
    assert len(made.train) == 120
    assert made.notes == ("training texts: left out 1 of more than 8 tokens (data.max_length)",)
    assert len(prepared([*TEXTS, LabelledText("x", ("w1 " * 8,))], TEXTS[:2], max_length=8).train) == 121
    with pytest.raises(
        DataError,
        match=r"of 120 training texts 0 are blank and 120 have more than 1 tokens; raise data\.max_length",
    ):
        prepared(TEXTS, TEXTS[:1], max_length=1)


def test_what_cannot_be_used(tmp_path):
    with pytest.raises(DataError, match=r"the label 'v' was not in the training data.*known: x, y, z"):
        prepared(TEXTS, [LabelledText("v", ("w1",))])
    with pytest.raises(DataError, match="every label is 'x'; at least two different labels are needed"):
        prepared(TEXTS[::3])
    with pytest.raises(DataError, match="the validation texts given are none at all"):
        prepared(TEXTS, [])
    with pytest.raises(DataError, match="2 examples are too few to train and to validate with"):
        prepared(TEXTS[:2])
    (tmp_path / "empty").touch()
    with pytest.raises(DataError, match="empty: an empty corpus"):
        read_labelled_texts(str(tmp_path / "empty"), LabelledDataConfig(), 1)


def test_tuples_are_a_label_and_its_texts():
    assert parse_labelled_texts([("x", "a", "b")], 2) == [LabelledText("x", ("a", "b"))]
    with pytest.raises(DataError, match=r"example 2 \('y'\) has 1 texts where model.num_texts is 2"):
        parse_labelled_texts([("x", "a", "b"), ("y", "a")], 2)
    with pytest.raises(DataError, match=r"example 1 \('x'\) has a blank text"):
        parse_labelled_texts([("x", " ")], 1)


def test_the_layout_reaches_the_reader(tmp_path):
    path = tmp_path / "data"
    path.write_text("id\ta\tb\tlabel\n1\tone\ttwo\tyes\n")
    data = LabelledDataConfig(columns=(4, 2, 3), header=True)
    [example] = read_labelled_texts(str(path), data, 2)
    assert (example.label, example.texts) == ("yes", ("one", "two"))
    path.write_text("yes one two\n")
    [example] = read_labelled_texts(str(path), LabelledDataConfig(separator="space"), 1)
    assert (example.label, example.texts) == ("yes", ("one two",))
    with pytest.raises(ConfigError, match="is for a label followed by one text"):
        read_labelled_texts(str(path), LabelledDataConfig(separator="space"), 2)
