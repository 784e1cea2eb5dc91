import pytest

from regard.lab.measures.energies import ratios, take_turns


class Clock:
    """Goes on as it is told to, and runs slower and slower beside."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_every_way_does_every_round_once_and_none_is_always_first():
    done = []
    taken = take_turns({n: lambda k, n=n: done.append((n, k)) for n in "abc"}, 4, warmup=2)
    assert {name: len(seconds) for name, seconds in taken.items()} == {"a": 4, "b": 4, "c": 4}
    rounds = [done[start : start + 3] for start in range(0, len(done), 3)]
    assert len(rounds) == 2 + 4
    assert [[k for _, k in each] for each in rounds] == [[2] * 3, [3] * 3, [0] * 3, [1] * 3, [2] * 3, [3] * 3]
    assert [each[0][0] for each in rounds[2:]] == ["a", "b", "c", "a"]
    assert all({name for name, _ in each} == set("abc") for each in rounds)


def test_noise_that_falls_on_a_round_falls_out_of_the_ratio():
    clock = Clock()
    slowness = [1.0, 50.0, 1.0, 9.0, 2.0]

    def way(cost):
        def work(k):
            clock.now += cost * slowness[k]

        return work

    taken = take_turns({"dot": way(2.0), "twice": way(4.0)}, 5, clock=clock)
    assert taken["dot"] == pytest.approx([2.0, 100.0, 2.0, 18.0, 4.0])
    assert ratios(taken, "dot") == pytest.approx({"dot": 1, "twice": 2})


def test_a_single_slow_round_does_not_count():
    taken = {"dot": [1.0, 1.0, 1.0], "other": [1.5, 1.5, 90.0]}
    assert ratios(taken, "dot") == {"dot": 1, "other": 1.5}
