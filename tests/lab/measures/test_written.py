"""The numbers of what a model wrote."""

import pytest

from regard.lab.measures.length import score_written


def test_by_hand() -> None:
    wanted = ["le chien dort ici .", "il pleut ."]
    assert score_written(wanted, wanted) == pytest.approx(
        {"sentences": 2, "bleu": 100.0, "exact_match": 100.0, "length_ratio": 1.0}
    )
    half = score_written(["le chien dort ici .", ""], wanted)
    assert half["exact_match"] == 50.0
    assert half["length_ratio"] == pytest.approx(5 / 8)
    # every n-gram is right; what is missing costs exp(1 − 8/5)
    assert half["bleu"] == pytest.approx(100 * 2.718281828 ** (1 - 8 / 5), rel=1e-6)
