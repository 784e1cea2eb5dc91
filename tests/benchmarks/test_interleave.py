import pytest
from benchmarks.interleave import REGARD, Spread, Trial, interleave, losses, peaks, ratios, speeds

from regard.errors import RegardError


def test_regard_runs_before_and_after_every_contender(result):
    logged = []
    others = {"one": lambda: result(1), "two": lambda: result(2)}
    trials = interleave(lambda: result(10), others, 2, logged.append)
    assert [trial.name for trial in trials] == [
        REGARD,
        "one",
        REGARD,
        "two",
        REGARD,
        "one",
        REGARD,
        "two",
        REGARD,
    ]
    assert logged == [trial.name for trial in trials]


def test_a_ratio_is_to_the_mean_of_the_two_runs_next_to_it(result):
    speed = {REGARD: [10, 30, 50], "slow": [10], "fast": [60]}
    order = [REGARD, "slow", REGARD, "fast", REGARD]
    trials = [Trial(name, result(speed[name].pop(0))) for name in order]
    assert ratios(trials) == {"slow": Spread(0.5, 0.5, 0.5), "fast": Spread(1.5, 1.5, 1.5)}
    assert speeds(trials)[REGARD] == Spread(30, 10, 50)


def test_median_minimum_and_maximum_are_over_all_rounds(result):
    trials = [Trial(REGARD, result(10))]
    for speed in (2, 10, 4):
        trials += [Trial("it", result(speed, loss=speed, peak=speed)), Trial(REGARD, result(10))]
    assert ratios(trials)["it"] == Spread(0.4, 0.2, 1.0)
    assert losses(trials)["it"] == peaks(trials)["it"] == Spread(4, 2, 10)
    assert ratios(trials)["it"].format(".1f") == "0.4 (0.2–1.0)"
    assert Spread(2.04, 2.01, 2.04).format(".1f") == "2.0"


def test_a_contender_may_fail_and_regard_may_not(result):
    def fails():
        raise RegardError("no such module")

    trials = interleave(lambda: result(10), {"it": fails}, 1, str)
    assert (trials[1].result, trials[1].error) == (None, "no such module")
    assert "it" not in ratios(trials)
    with pytest.raises(RegardError, match="regard itself failed: no such module"):
        interleave(fails, {}, 1, str)
