"""One training alone and two at once; the seconds are made up, except in the last test."""

import json

import pytest
from benchmarks.interleave import Spread
from benchmarks.neighbours import SPINS, compare, neighbours_section, ratio, train_together

from benchmarks import __main__ as command
from benchmarks import neighbours

OURS, DEFAULT = SPINS


def test_both_spins_alternate(toy, monkeypatch):
    ran = []

    def train(setting, number, *, spin_count, threads):
        ran.append((number, spin_count))
        return float(number)

    monkeypatch.setattr(neighbours, "train_together", train)
    logged = []
    seconds = compare(toy, rounds=2, threads=2, log=logged.append)
    assert seconds == {name: {1: [1, 1], 2: [2, 2]} for name in SPINS}
    once = [(number, spin) for number in (1, 2) for spin in SPINS.values()]
    assert ran == [*once, *reversed(once)]
    assert logged[0] == f"toy, round 1 of 2: {OURS}, 1 at once: 1.0 s"


@pytest.mark.parametrize(("two", "verdict"), [(23.0, "PASS"), (23.5, "FAIL")])
def test_the_verdict(two, verdict):
    seconds = {OURS: {1: [10, 10, 10], 2: [two, two, 99]}, DEFAULT: {1: [8, 10, 12], 2: [60, 65, 70]}}
    assert ratio(seconds[OURS]) == Spread(two / 10, two / 10, 9.9)
    section = neighbours_section({"toy": seconds}, 2)
    (table,) = section.tables
    assert table.caption == (
        f"toy: {verdict}, two at once take {two / 10:.2f} times as long as one alone (at most 2.3); one alone takes "
        "1.000 (0.833–1.250) times as long as with the default spin."
    )
    assert table.rows[1] == [DEFAULT, "10.0 (8.0–12.0)", "65.0 (60.0–70.0)", "6.50 (5.83–7.50)"]
    assert json.loads(json.dumps(section.numbers))["toy"][OURS]["1"] == [10, 10, 10]


def test_the_slower_of_two_counts(toy, monkeypatch):
    """After the warm-up; and the spin is in the environment of each."""
    given = []

    def run(function, arguments, *, threads, variables):
        given.append((function, threads, variables))
        return {"seconds": [50.0] * toy.warmup + [float(len(given))] * 2}

    monkeypatch.setattr(neighbours, "run_in_subprocess", run)
    assert train_together(toy, 2, spin_count=5, threads=3) == 4
    assert given == [("benchmarks.training:train", 3, {"GOMP_SPINCOUNT": "5"})] * 2


def test_the_command(toy, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(neighbours, "SPINS", {OURS: 100, DEFAULT: 1000})
    options = command.Options({"toy": toy}, 1, 1, None, tmp_path / "out")
    (section,) = command.run("neighbours", options)
    assert section.key == "neighbours"
    assert f"| {OURS} |" in capsys.readouterr().out
