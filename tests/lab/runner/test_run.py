"""All experiments side by side: their order, those that must be alone, what fails, and what is heard."""

import os

import pytest

from regard.errors import DataError
from regard.lab.runner import Bench
from regard.lab.runner.bench import cores
from regard.lab.runner.experiment import read_result
from regard.lab.runner.run import Heard, run_all, run_experiment

NAMES = ("short", "poor", "clock", "long", "faulty", "stopwatch")


@pytest.fixture(scope="module")
def ended(made, tmp_path_factory):
    """A run of six: two that time something, two that fail, a short one and a long one."""
    folder = tmp_path_factory.mktemp("lab") / "all"
    experiments = [
        made.experiment("short", seconds=1),
        made.experiment("poor", made.lack_data, seconds=3),
        made.experiment("clock", seconds=1, alone=True),
        made.experiment("long", seconds=9),
        made.experiment("faulty", made.divide, seconds=2),
        made.experiment("stopwatch", seconds=5, alone=True),
    ]
    heard = []
    results = run_all(
        experiments, Bench(folder, seed=3, full=True, jobs=2), lambda name: f"regard lab {name}", heard.append
    )
    return folder, results, heard


def test_results_come_in_the_order_of_the_report(ended):
    _, results, _ = ended
    assert [each.name for each in results] == ["short", "clock", "long", "stopwatch"]
    assert [each.command for each in results] == [f"regard lab {each.name}" for each in results]
    assert all(each.numbers["jobs"] == 1 for each in results)
    assert all((each.numbers["seed"], each.numbers["full"]) == (3, True) for each in results)


def test_those_that_measure_time_are_first_and_by_themselves(ended):
    _, results, _ = ended
    span = {each.name: (each.numbers["started"], each.numbers["ended"]) for each in results}
    assert span["clock"][1] <= span["stopwatch"][0]
    assert span["stopwatch"][1] <= min(span["long"][0], span["short"][0])


def test_the_longest_of_the_others_is_begun_first(ended):
    _, results, _ = ended
    started = {each.name: each.numbers["started"] for each in results}
    assert started["long"] < started["short"]


def test_what_fails_is_told_and_takes_nothing_with_it(ended):
    folder, _, heard = ended
    failed = {each.name: each.failed for each in heard if each.failed}
    assert set(failed) == {"poor", "faulty"}
    assert failed["poor"] == "no sentences here: give it some"
    assert "ZeroDivisionError" in failed["faulty"]
    assert "made_up_experiments.py" in failed["faulty"]
    for name in ("poor", "faulty"):
        assert not (folder / name / "result.json").exists()


def test_voices_are_heard_before_the_end(ended):
    _, results, heard = ended
    for result in results:
        mine = [each for each in heard if each.name == result.name]
        assert mine[0] == Heard(result.name, "begun")
        assert mine[1] == Heard(result.name, f"drawing in {result.name}")
        assert mine[-1] == Heard(result.name, "held", result)
    assert {each.name for each in heard} == set(NAMES)


def test_folders_hold_results_and_pages_and_the_report_names_them_all(ended):
    folder, results, _ = ended
    for result in results:
        assert {"result.json", "line.png", "line.svg", "page.html"} <= {
            path.name for path in (folder / result.name).iterdir()
        }
        assert read_result(folder / result.name) == result
    report = (folder / "report.html").read_text(encoding="utf-8")
    places = [report.index(f"On {each.name}") for each in results]
    assert places == sorted(places)
    assert "On poor" not in report


def test_one_experiment_by_itself(made, tmp_path):
    result = run_experiment(made.experiment("alone"), Bench(tmp_path / "it", jobs=2), "regard lab alone")
    assert result == read_result(tmp_path / "it")
    assert result.numbers["jobs"] == 2
    assert result.seconds == pytest.approx(result.numbers["ended"] - result.numbers["started"], abs=0.5)
    assert "On alone" in (tmp_path / "it" / "page.html").read_text(encoding="utf-8")


def test_one_that_fails_by_itself_raises_what_it_raised(made, tmp_path):
    with pytest.raises(DataError, match="give it some"):
        run_experiment(made.experiment("poor", made.lack_data), Bench(tmp_path), "regard lab poor")
    assert not (tmp_path / "result.json").exists()


def test_no_report_on_nothing(tmp_path):
    assert run_all([], Bench(tmp_path / "new"), str, print) == []
    assert not (tmp_path / "new" / "report.html").exists()


def test_a_worker_that_is_killed_takes_nothing_with_it(made, tmp_path):
    experiments = [
        made.experiment("killed", made.die, seconds=9),
        made.experiment("first", seconds=5),
        made.experiment("second", seconds=1),
    ]
    heard = []
    results = run_all(experiments, Bench(tmp_path / "all", jobs=2), str, heard.append)
    assert [each.name for each in results] == ["first", "second"]
    failed = {each.name: each.failed for each in heard if each.failed}
    assert list(failed) == ["killed"]
    assert "a worker process was killed" in failed["killed"]
    assert (tmp_path / "all" / "report.html").exists()


def test_cores_are_those_this_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 3}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert cores() == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    assert cores() == 7
