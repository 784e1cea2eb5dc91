import pytest
from benchmarks.demands import Demand
from benchmarks.searched import searched

from regard.errors import RegardError

DEMAND = Demand("some", 5, 2, 3)
SEEN = {"seconds": [9.0, 0.5, 0.25], "whole": 12.0, "peak_bytes": 7}
OUTPUTS = ["a b c"] * 6


def test_speed_is_that_of_the_batch_in_the_middle_without_the_first():
    run = searched({**SEEN, "seconds": [9.0, 0.5, 4.0, 0.25]}, Demand("some", 5, 2, 4), 3, ["a b c"] * 8)
    assert run.sentences_per_second == 4
    assert run.tokens_per_second == 12
    assert run.milliseconds == 250
    assert run.to_json()["outputs"] == ["a b c"]


def test_other_work_than_was_asked_for_is_no_measurement():
    searched(SEEN, DEMAND, 3, OUTPUTS)
    with pytest.raises(RegardError, match="3 batches of 2 were asked for and 2 searched"):
        searched({**SEEN, "seconds": [1.0, 1.0]}, DEMAND, 3, OUTPUTS)
    with pytest.raises(RegardError, match="6 outputs of 3 words were asked for; there are 6, of 2, 3 words"):
        searched(SEEN, DEMAND, 3, ["a b", *OUTPUTS[1:]])
    with pytest.raises(RegardError, match="there are 5"):
        searched(SEEN, DEMAND, 3, OUTPUTS[1:])
