from dataclasses import replace

import pytest
from benchmarks.comparison import PLAIN
from benchmarks.contest import OURS, Turn
from benchmarks.decoding import Contest, decoding_section
from benchmarks.demands import BEAM, ONE, Demand, demands
from benchmarks.peers.search import corpus
from benchmarks.searched import Searched
from benchmarks.translating import measure, model_of

from benchmarks import translating
from regard.errors import RegardError


def turn(name, speed, whole=2.0, reduced=False):
    return Turn(name, Searched([9.0, 10 / speed, 10 / speed], 10, 4, whole, 2**20, ("a",), reduced))


def contest(speed):
    others = [PLAIN, "fairseq", "yoyodyne"]
    turns = [turn(OURS, speed[OURS])]
    for name in others:
        turns += [turn(name, speed[name], reduced=name == "yoyodyne"), turn(OURS, speed[OURS])]
    return Contest([*turns, Turn("eole", None, "it fell")], {"float32": 200.0})


@pytest.fixture
def section(toy):
    beam = contest({OURS: 100.0, PLAIN: 80.0, "fairseq": 50.0, "yoyodyne": 2.0})
    one = contest({OURS: 20.0, PLAIN: 10.0, "fairseq": 4.0, "yoyodyne": 5.0})
    return decoding_section({"toy": {BEAM: beam, ONE: one}}, {"toy": toy})


def test_speeds_stand_beside_shares_and_single_sentences_are_milliseconds(section):
    speeds = section.tables[0]
    assert speeds.columns == [
        "",
        f"{BEAM}, sentences/s",
        f"share of {OURS}",
        f"{ONE}, ms",
        f"share of {OURS}",
    ]
    assert speeds.rows == [
        [OURS, "100", "1.00", "50.0", "1.00"],
        [PLAIN, "80", "0.80", "100.0", "0.50"],
        ["fairseq", "50", "0.50", "250.0", "0.20"],
        ["yoyodyne", "2.0", "0.02", "200.0", "0.25"],
        ["bare products, float32", "200", "2.00", "5.0", "10.00"],
    ]


def test_the_fastest_peer_is_each_demands_own(section):
    against = section.tables[1]
    assert against.columns[1:] == [f"{BEAM} (fairseq)", f"{ONE} (yoyodyne)"]
    assert against.rows == [[OURS, "2.00", "4.00"], [PLAIN, "1.60", "2.00"]]


def test_whole_commands_are_compared_only_where_all_was_translated(section):
    whole = section.tables[2]
    assert [row[0] for row in whole.rows] == [OURS, "fairseq", "yoyodyne"]
    assert whole.rows[1] == ["fairseq", "2.0", "1", "2.0", "1"]
    assert whole.rows[2] == ["yoyodyne", "", "", "", ""]
    assert f"toy, {BEAM}: eole failed: it fell" in section.words


def test_without_peers_there_is_nothing_to_be_faster_than(toy):
    alone = Contest([turn(OURS, 100.0), turn(PLAIN, 80.0), turn(OURS, 100.0)], {"float32": 200.0})
    assert len(decoding_section({"toy": {BEAM: alone}}, {"toy": toy}).tables) == 2


def test_regard_searches_in_a_process_of_its_own_with_a_model_it_keeps(longer, tmp_path, monkeypatch):
    model, data = model_of(longer, tmp_path, threads=1), corpus(longer, tmp_path)
    monkeypatch.setattr(translating, "in_own_process", None)
    assert model_of(longer, tmp_path, threads=1) == model
    demand = demands(longer)[1]
    seen = measure(OURS, longer, demand, model, data, threads=1)
    assert len(seen.seconds) == demand.calls
    assert seen.whole > sum(seen.seconds) > 0
    assert {len(line.split()) for line in seen.outputs} == {longer.output_words}
    with pytest.raises(RegardError, match="ended with status 2"):
        measure(OURS, longer, replace(demand, calls=3), model, data, threads=1)


def test_a_demand_survives_its_way_to_another_process():
    demand = Demand("some", 5, 2, 3)
    assert Demand(**demand.to_json()) == demand
