import numpy as np
import pytest

from regard.errors import ConfigError, DataError
from regard.tasks.caption.config import CaptionDataConfig
from regard.tasks.caption.task import CaptionTask, parse_captions, read_captions
from regard.text import CaptionedFeatures
from regard.training.configure import configure


def examples(count, text=lambda k: f"number {k}"):
    return parse_captions([([k, 2.0 * k, 1.0], text(k)) for k in range(count)])


def prepared(train, valid=None, **data):
    return CaptionTask(configure({"task": "caption", "data": data}), train, valid).prepared


def test_equal_vectors_are_in_one_part_only():
    """Several captions of one picture: none of them may be met again in validation."""
    found = prepared([each for each in examples(20) for _ in range(5)])
    train = {each.features.tobytes() for each in found.train}
    valid = {each.features.tobytes() for each in found.valid}
    assert not train & valid
    assert (len(found.train), len(found.valid)) == (95, 5)
    assert found.notes == (
        "no validation captions given: 5 of the training captions are split off for validation",
    )


def test_a_note_says_what_is_left_out():
    lines = ["a b", "", "a b c d", "b"]
    found = prepared(examples(4, lines.__getitem__), examples(2, ["a", " "].__getitem__), max_length=3)
    assert [each.text for each in found.train] == ["a b", "b"]
    assert [each.text for each in found.valid] == ["a"]
    assert found.notes == (
        "training captions: left out 1 blank",
        "training captions: left out 1 of more than 3 tokens (data.max_length)",
        "validation captions: left out 1 blank",
    )
    assert {len(each.features) for each in found.train} == {3}


def test_nothing_left():
    with pytest.raises(DataError, match="of 3 training captions 0 are blank and 3 have more than 2"):
        prepared(examples(3, lambda k: "a b c"), examples(1), max_length=2)
    with pytest.raises(DataError, match="the validation captions are all empty"):
        prepared(examples(3), examples(2, lambda k: ""))
    with pytest.raises(DataError, match="too few"):
        prepared(examples(1))


def test_tuples_and_captioned_features():
    one = CaptionedFeatures(np.ones(2, dtype=np.float32), "x")
    found = parse_captions([one, ([3, 4], "y")])
    assert [each.text for each in found] == ["x", "y"]
    assert found[1].features.dtype == np.float32
    with pytest.raises(DataError, match="example 2: 3 features where the first has 2; make them equal"):
        parse_captions([one, ([1, 2, 3], "y")])
    for bad in ([[1, 2]], [], [1.0, float("nan")]):
        with pytest.raises(DataError, match="example 1: its features are not a vector of finite numbers"):
            parse_captions([(bad, "y")])
    with pytest.raises(DataError, match=r"example 2: not an array \(.*\); give the same number"):
        parse_captions([one, ([[1, 2], [3]], "y")])
    with pytest.raises(
        DataError, match="example 2: values of type <U1; features are whole numbers or floats"
    ):
        parse_captions([one, (["a", "b"], "y")])


def test_validation_files_of_another_width(tmp_path):
    for name, width in (("train", 3), ("valid", 2)):
        np.save(tmp_path / f"{name}.npy", np.ones((2, width)))
        (tmp_path / f"{name}.txt").write_text("a\nb\n")
    files = {name: [str(tmp_path / f"{name}.{s}") for s in ("npy", "txt")] for name in ("train", "valid")}
    run = configure({"task": "caption", "data": files})
    with pytest.raises(DataError, match=r"^3 features in training and 2 in validation; make them equal"):
        CaptionTask(run)


def test_files(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((0, 3)))
    (tmp_path / "x.txt").write_text("")
    with pytest.raises(DataError, match="an empty corpus, without a row"):
        read_captions([str(tmp_path / "x.npy"), str(tmp_path / "x.txt")], "")
    with pytest.raises(
        ConfigError, match=r"data\.train: 1 file; give two, the features and then the captions"
    ):
        CaptionDataConfig(train=("x.npy",))
