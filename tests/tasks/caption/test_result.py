"""A caption is whole, and says all it knows."""

import pytest

from regard.errors import DataError
from regard.tasks.caption.result import Caption

OTHER = Caption("y", ("y", "</s>"), -2.0, -4.0, (-3.0, -1.0))
ONE = Caption("x", ("x", "</s>"), -1.0, -2.0, (-1.5, -0.5), (OTHER,))


def test_a_log_probability_for_each_token():
    with pytest.raises(DataError, match="'x': 1 token_log_probs for 2 tokens; give one for each"):
        Caption("x", ("x", "</s>"), 0.0, 0.0, (0.0,))


def test_for_people():
    assert str(ONE) == "x"
    assert repr(ONE) == "Caption('x', score=-1.0000)"


def test_for_programs():
    assert ONE.to_json() == {
        "text": "x",
        "score": -1.0,
        "log_prob": -2.0,
        "tokens": ["x", "</s>"],
        "token_log_probs": [-1.5, -0.5],
        "alternatives": [OTHER.to_json()],
    }
    assert OTHER.to_json()["alternatives"] == []
