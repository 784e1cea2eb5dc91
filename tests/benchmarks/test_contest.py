import pytest
from benchmarks.contest import OURS, Spread, Turn, in_turn, losses, peaks, shares, speeds

from regard.errors import RegardError


def test_ours_stands_before_and_after_every_other(seen):
    told = []
    others = {"one": lambda: seen(1), "two": lambda: seen(2)}
    turns = in_turn(lambda: seen(10), others, 2, told.append)
    assert [turn.name for turn in turns] == [OURS, "one", OURS, "two", OURS, "one", OURS, "two", OURS]
    assert told == [turn.name for turn in turns]


def test_a_share_is_of_the_mean_of_the_two_runs_beside_it(seen):
    speed = {OURS: [10, 30, 50], "slow": [10], "quick": [60]}
    order = [OURS, "slow", OURS, "quick", OURS]
    turns = [Turn(name, seen(speed[name].pop(0))) for name in order]
    found = shares(turns)
    assert found == {"slow": Spread(0.5, 0.5, 0.5), "quick": Spread(1.5, 1.5, 1.5)}
    assert speeds(turns)[OURS] == Spread(30, 10, 50)


def test_medians_and_ends_are_over_all_rounds(seen):
    turns = [Turn(OURS, seen(10))]
    for speed in (2, 10, 4):
        turns += [Turn("it", seen(speed, loss=speed, peak=speed)), Turn(OURS, seen(10))]
    assert shares(turns)["it"] == Spread(0.4, 0.2, 1.0)
    assert losses(turns)["it"] == peaks(turns)["it"] == Spread(4, 2, 10)
    assert shares(turns)["it"].written(".1f") == "0.4 (0.2–1.0)"
    assert Spread(2.04, 2.01, 2.04).written(".1f") == "2.0"


def test_another_that_fails_is_told_of_and_ours_may_not(seen):
    def fails():
        raise RegardError("no such wheel")

    turns = in_turn(lambda: seen(10), {"it": fails}, 1, str)
    assert (turns[1].measured, turns[1].failed) == (None, "no such wheel")
    assert "it" not in shares(turns)
    with pytest.raises(RegardError, match="regard itself failed: no such wheel"):
        in_turn(fails, {}, 1, str)
