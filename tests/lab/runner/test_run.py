"""Experiments in parallel: their order, those that must be alone, failures, and messages."""

import os

import pytest

from regard.errors import DataError
from regard.lab.runner import Bench
from regard.lab.runner.experiment import read_result
from regard.lab.runner.run import Status, run_all, run_experiment
from regard.worker_pool import num_cores

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
    statuses = []
    results = run_all(
        experiments,
        Bench(folder, full=True, jobs=2),
        lambda name: f"regard lab {name}",
        statuses.append,
        seed=3,
    )
    return folder, results, statuses


def test_results_come_in_the_order_of_the_report(ended):
    _, results, _ = ended
    assert [each.name for each in results] == ["short", "clock", "long", "stopwatch"]
    assert [each.command for each in results] == [f"regard lab {each.name}" for each in results]
    assert all(each.numbers["jobs"] == 1 for each in results)
    assert all(
        (each.numbers["seed"], each.numbers["full"], each.numbers["sizes"]) == (3, True, "full")
        for each in results
    )


def test_those_that_measure_time_are_first_and_by_themselves(ended):
    _, results, _ = ended
    span = {each.name: (each.numbers["started"], each.numbers["ended"]) for each in results}
    assert span["clock"][1] <= span["stopwatch"][0]
    assert span["stopwatch"][1] <= min(span["long"][0], span["short"][0])


def test_the_longest_of_the_others_is_started_first(made, tmp_path):
    experiments = [made.experiment("short", seconds=1), made.experiment("long", seconds=9)]
    short, long = run_all(experiments, Bench(tmp_path / "all"), str, [].append)
    assert long.numbers["ended"] <= short.numbers["started"]


def test_a_failure_is_reported_and_stops_no_other(ended):
    folder, _, statuses = ended
    failed = {each.name: each.failed for each in statuses if each.failed}
    assert set(failed) == {"poor", "faulty"}
    assert failed["poor"] == "no sentences here: give it some"
    assert "ZeroDivisionError" in failed["faulty"]
    assert "made_up_experiments.py" in failed["faulty"]
    for name in ("poor", "faulty"):
        assert not (folder / name / "result.json").exists()


def test_messages_arrive_before_the_end(ended):
    _, results, statuses = ended
    for result in results:
        own = [each for each in statuses if each.name == result.name]
        assert own[0] == Status(result.name, "started")
        assert own[1] == Status(result.name, f"plotting in {result.name}")
        assert own[-1] == Status(result.name, "held", result)
    assert {each.name for each in statuses} == set(NAMES)


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
    assert (result.numbers["jobs"], result.numbers["sizes"]) == (2, "usual")
    assert result.seconds == pytest.approx(result.numbers["ended"] - result.numbers["started"], abs=0.5)
    assert "On alone" in (tmp_path / "it" / "page.html").read_text(encoding="utf-8")


def test_one_that_fails_by_itself_raises_what_it_raised(made, tmp_path):
    with pytest.raises(DataError, match="give it some"):
        run_experiment(made.experiment("poor", made.lack_data), Bench(tmp_path), "regard lab poor")
    assert not (tmp_path / "result.json").exists()


def test_no_report_on_nothing(tmp_path):
    assert run_all([], Bench(tmp_path / "new"), str, print) == []
    assert not (tmp_path / "new" / "report.html").exists()


def test_a_killed_worker_stops_no_other(made, tmp_path):
    experiments = [
        made.experiment("killed", made.die, seconds=9),
        made.experiment("first", seconds=5),
        made.experiment("second", seconds=1),
    ]
    statuses = []
    results = run_all(experiments, Bench(tmp_path / "all", jobs=2), str, statuses.append)
    assert [each.name for each in results] == ["first", "second"]
    failed = {each.name: each.failed for each in statuses if each.failed}
    assert list(failed) == ["killed"]
    assert "a worker process was killed" in failed["killed"]
    assert (tmp_path / "all" / "report.html").exists()


def test_cores_are_those_this_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 3}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert num_cores() == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    assert num_cores() == 7


def test_a_run_is_continued_where_it_was_interrupted(made, tmp_path):
    first, second = made.experiment("first"), made.experiment("second")
    (before,) = run_all([first], Bench(tmp_path / "all"), str, [].append, seed=5)
    left = tmp_path / "all" / "second" / "models" / "half"
    left.mkdir(parents=True)
    statuses = []
    after = run_all([first, second], Bench(tmp_path / "all"), str, statuses.append, seed=5)
    assert after[0] == before, "not repeated"
    assert [each.name for each in after] == ["first", "second"]
    assert not left.exists()
    assert statuses[0] == Status("first", "held", before)


def test_results_of_another_run_are_neither_reported_nor_removed(made, tmp_path):
    experiment = made.experiment("first")
    (before,) = run_all([experiment], Bench(tmp_path / "all"), str, [].append, seed=5)
    for other in ({"seed": 6}, {"seed": 5, "full": True}):
        bench = Bench(tmp_path / "all", full=other.pop("full", False))
        with pytest.raises(
            DataError, match=r"first: holds a result of other settings \(seed 5.*choose another"
        ):
            run_all([experiment], bench, str, [].append, **other)
    assert read_result(tmp_path / "all" / "first") == before


def test_each_starts_from_its_own_seed_unless_told(made, tmp_path):
    (result,) = run_all([made.experiment("first")], Bench(tmp_path / "all", seed=9), str, [].append)
    assert result.seed == result.numbers["seed"] == 1
