"""A trained captioner in use: rows in, captions out, and an error says what is wrong with rows."""

import numpy as np
import pytest

import regard
from regard.errors import DataError, FolderError

LINES = ["a red square .", "a blue circle .", "two red circles .", "a square ."]
CONFIG = {
    "model": {
        "summary_size": 16,
        "decoder": {"embedding_size": 16, "state_size": 16, "readout_size": 16, "dropout": 0.0},
    },
    "training": {
        "max_updates": 60,
        "max_epochs": 0,
        "learning_rate": 0.02,
        "warmup": 0,
        "label_smoothing": 0.0,
    }
    | {"validate_every": 60, "device": "cpu"},
}
# raw: far from zero, in units of their own, one feature that says nothing
FEATURES = np.array([[9000, 1e-4, 7], [9001, 1e-4, 7], [9000, 3e-4, 7], [9001, 3e-4, 7]], dtype=np.float64)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("captioner") / "model"
    examples = list(zip(FEATURES, LINES, strict=True)) * 8
    regard.train(path, examples, examples, task="caption", config=CONFIG)
    return path


@pytest.fixture(scope="module")
def captioner(folder):
    return regard.Captioner.load(folder)


def test_raw_features_are_learnt_from(captioner):
    assert [each.text for each in captioner.caption(FEATURES)] == LINES
    assert [str(each) for each in captioner.caption(FEATURES.tolist(), beam=1)] == LINES


def test_what_brings_them_to_one_scale_is_saved(captioner):
    np.testing.assert_allclose(captioner.model.standardize.mean, FEATURES.mean(axis=0), rtol=1e-6)
    assert captioner.model.standardize.scale[0] == pytest.approx(0.5)
    assert captioner.model.standardize.scale[2] == 1


def test_unless_it_is_not_wanted(tmp_path):
    examples = list(zip(FEATURES, LINES, strict=True))
    options = ["data.standardize=false", "training.max_updates=1"]
    regard.train(tmp_path / "m", examples, examples, task="caption", config=CONFIG, options=options)
    assert regard.Captioner.load(tmp_path / "m").model.standardize.mean.tolist() == [0, 0, 0]


def test_batches_and_order_change_nothing(captioner):
    one = captioner.caption(FEATURES, n_best=2)
    other = captioner.caption(FEATURES[::-1].copy(), n_best=2, batch_sentences=1)[::-1]
    assert [each.text for each in other] == [each.text for each in one]
    assert [each.score for each in other] == pytest.approx([each.score for each in one], abs=1e-5)
    assert all(len(each.alternatives) == 1 and each.score >= each.alternatives[0].score for each in one)


def test_reading_gives_what_search_found(captioner):
    found = captioner.caption(FEATURES)
    read = captioner.score(FEATURES, [each.text for each in found])
    assert [each.tokens for each in read] == [each.tokens for each in found]
    assert [each.log_prob for each in read] == pytest.approx([each.log_prob for each in found], abs=1e-4)


def test_no_longer_than_allowed(folder):
    short = regard.Captioner.load(folder, max_length=2).caption(FEATURES)
    assert all(len(each.tokens) <= 2 for each in short)


def test_no_rows(captioner):
    assert captioner.caption(np.zeros((0, 3))) == []


def test_what_cannot_be_captioned(captioner):
    with pytest.raises(
        DataError, match="2 features in a row, and the model was trained on 3; make them equal"
    ):
        captioner.caption(FEATURES[:, :2])
    with pytest.raises(DataError, match=r"features of shape \(3,\): give a matrix"):
        captioner.caption(FEATURES[0])
    bad = FEATURES.copy()
    bad[2, 1] = np.nan
    with pytest.raises(DataError, match="feature 2 of row 3 is nan; each must be finite"):
        captioner.caption(bad)
    with pytest.raises(DataError, match=r"features: not an array \(.*\); give the same number"):
        captioner.caption([[1.0, 2.0, 3.0], [1.0]])
    for odd in ([["a", "b", "c"]], [["1", "2", "3"]]):
        with pytest.raises(DataError, match="features: values of type <U1; features are whole numbers"):
            captioner.caption(odd)
    with pytest.raises(DataError, match="4 rows of features and 1 texts"):
        captioner.score(FEATURES, ["a"])


def test_only_a_captioner_s_folder(folder):
    with pytest.raises(FolderError, match="a model for captioning feature vectors; name one for translating"):
        regard.Translator.load(folder)
