"""The training lines, the validation split, and the notes on both."""

import pytest

from regard.errors import DataError
from regard.tasks.language_model.task import LanguageModelTask, parse_lines, read_corpus
from regard.training.configure import configure


def prepared(train, valid=None, **data):
    config = {"task": "language_model", "data": data, "training": {"batch_sentences": 1}}
    return LanguageModelTask(configure(config), train, valid).prepared


def texts(lines):
    return [line.text for line in lines]


def test_sentences_split_off_share_no_text(lines):
    text = [*lines(100), *lines(100)]
    found = prepared(text)
    train, valid = set(texts(found.train)), set(texts(found.valid))
    assert train | valid == set(text)
    assert not train & valid
    number = len(found.valid)
    assert found.notes == (
        f"no validation lines given: {number} of the training lines are split off for validation",
    )
    assert texts(prepared(text).valid) == texts(found.valid)


def test_the_end_of_continuous_text_is_split_off(lines):
    text = lines(100)
    found = prepared(text, mode="continuous")
    assert texts(found.train) == text[:95]
    assert texts(found.valid) == text[95:]
    assert found.notes == (
        "no validation lines given: the last 5 of the training lines are split off for validation",
    )


def test_the_blank_and_the_long_are_left_out_of_sentences_and_counted():
    text = ["a b c", "", "a b c d", " ", "b"]
    found = prepared(text, ["a", " ", "a b c d e f"], max_length=3)
    assert texts(found.train) == ["a b c", "b"]
    assert texts(found.valid) == ["a", "a b c d e f"], "validation is of all there is"
    assert found.notes == (
        "training lines: left out 2 blank",
        "training lines: left out 1 of more than 3 tokens (data.max_length)",
    )


def test_continuous_text_is_whole():
    text = ["a b", "", "a b c d"]
    found = prepared(text, ["", "a"], mode="continuous", max_length=1)
    assert texts(found.train) == text
    assert texts(found.valid) == ["", "a"]
    assert found.notes == ()


def test_files_one_after_the_other(tmp_path):
    (tmp_path / "one").write_text("a\nb\n")
    (tmp_path / "two").write_text("c\n")
    assert read_corpus([str(tmp_path / "one"), str(tmp_path / "two")]) == ["a", "b", "c"]
    (tmp_path / "blank").write_text("\n \n")
    with pytest.raises(DataError, match="blank: an empty corpus, without text"):
        read_corpus([str(tmp_path / "blank")])


def test_lines_in_tuples_are_lines():
    assert parse_lines([("a b",), "c"]) == ["a b", "c"]


def test_refusals():
    with pytest.raises(DataError, match=r"1 lines are too few .* the last 1 would be split off"):
        prepared(["a"], mode="continuous")
    with pytest.raises(
        DataError, match=r"0 are blank and 1 have more than 2 tokens; raise data.max_length \(now 2\)"
    ):
        prepared(["a b c"], ["a"], max_length=2)
    with pytest.raises(DataError, match="the validation text is empty"):
        prepared(["a"], [" "])
