"""``regard caption``: what is refused before a model is looked for. The rest is a journey."""

import numpy as np


def test_the_features_are_not_written_over(regard, tmp_path):
    features = tmp_path / "features.npy"
    np.save(features, np.ones((2, 3)))
    before = features.read_bytes()
    ended = regard("caption", tmp_path / "none", features, "-o", tmp_path / "." / "features.npy")
    assert (ended.status, ended.out) == (2, "")
    assert f"--output {features}: it is being read; write to another file" in ended.err.replace("\n", " ")
    assert features.read_bytes() == before
