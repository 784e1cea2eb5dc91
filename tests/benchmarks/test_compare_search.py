from dataclasses import replace

import pytest
from benchmarks.compare_search import CaseResult, search_section
from benchmarks.decoding import measure, trained_model
from benchmarks.interleave import REGARD, Trial
from benchmarks.peers import search_corpus
from benchmarks.plain import NAME as PLAIN
from benchmarks.search_cases import BEAM, SINGLE, SearchCase, SearchTiming, search_cases

from benchmarks import decoding
from regard.errors import RegardError


def trial(name, speed, seconds=2.0, reduced=False):
    return Trial(name, SearchTiming([9.0, 10 / speed, 10 / speed], 10, 4, seconds, 2**20, ("a",), reduced))


def case_result(speed):
    others = [PLAIN, "fairseq", "yoyodyne"]
    trials = [trial(REGARD, speed[REGARD])]
    for name in others:
        trials += [trial(name, speed[name], reduced=name == "yoyodyne"), trial(REGARD, speed[REGARD])]
    return CaseResult([*trials, Trial("eole", None, "out of memory")], {"float32": 200.0})


@pytest.fixture
def section(toy):
    beam = case_result({REGARD: 100.0, PLAIN: 80.0, "fairseq": 50.0, "yoyodyne": 2.0})
    single = case_result({REGARD: 20.0, PLAIN: 10.0, "fairseq": 4.0, "yoyodyne": 5.0})
    return search_section({"toy": {BEAM: beam, SINGLE: single}}, {"toy": toy})


def test_the_speed_table_has_ratios_and_milliseconds_for_single_sentences(section):
    speeds = section.tables[0]
    assert speeds.columns == [
        "",
        f"{BEAM}, sentences/s",
        f"× {REGARD}",
        f"{SINGLE}, ms",
        f"× {REGARD}",
    ]
    assert speeds.rows == [
        [REGARD, "100", "1.00", "50.0", "1.00"],
        [PLAIN, "80", "0.80", "100.0", "0.50"],
        ["fairseq", "50", "0.50", "250.0", "0.20"],
        ["yoyodyne", "2.0", "0.02", "200.0", "0.25"],
        ["matrix products alone, float32", "200", "2.00", "5.0", "10.00"],
    ]


def test_each_case_has_its_own_fastest_peer(section):
    against = section.tables[1]
    assert against.columns[1:] == [f"{BEAM} (fairseq)", f"{SINGLE} (yoyodyne)"]
    assert against.rows == [[REGARD, "2.00", "4.00"], [PLAIN, "1.60", "2.00"]]


def test_whole_commands_are_compared_only_where_all_was_translated(section):
    commands = section.tables[2]
    assert [row[0] for row in commands.rows] == [REGARD, "fairseq", "yoyodyne"]
    assert commands.rows[1] == ["fairseq", "2.0", "1", "2.0", "1"]
    assert commands.rows[2] == ["yoyodyne", "", "", "", ""]
    assert f"toy, {BEAM}: eole failed: out of memory" in section.paragraphs


def test_without_peers_there_is_no_table_against_them(toy):
    regard_only = CaseResult(
        [trial(REGARD, 100.0), trial(PLAIN, 80.0), trial(REGARD, 100.0)], {"float32": 200.0}
    )
    assert len(search_section({"toy": {BEAM: regard_only}}, {"toy": toy}).tables) == 2


def test_regard_searches_in_a_subprocess_and_trains_its_model_once(longer, tmp_path, monkeypatch):
    model, data = trained_model(longer, tmp_path, threads=1), search_corpus(longer, tmp_path)
    monkeypatch.setattr(decoding, "run_in_subprocess", None)
    assert trained_model(longer, tmp_path, threads=1) == model
    case = search_cases(longer)[1]
    result = measure(REGARD, longer, case, model, data, threads=1)
    assert len(result.seconds) == case.calls
    assert result.total_seconds > sum(result.seconds) > 0
    assert {len(line.split()) for line in result.outputs} == {longer.output_words}
    with pytest.raises(RegardError, match="ended with status 2"):
        measure(REGARD, longer, replace(case, calls=3), model, data, threads=1)


def test_a_case_is_equal_after_json():
    case = SearchCase("some", 5, 2, 3)
    assert SearchCase(**case.to_json()) == case
