"""The fuzz for a few seconds, and that it sees what it looks for."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks import fuzz
from regard import checkpoint
from regard.batches.store import Store


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    fuzz.write_models(folder)
    fuzz.write_stores(folder)
    fuzz.write_runs(folder)
    return folder


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10**9))
def test_no_traceback_no_hang_no_gigabytes(base, number):
    outcome = fuzz.run_case(number, base)
    assert not outcome.fault, outcome.fault


def test_the_models_are_whole(base):
    for path in base.glob("*/regard.json"):
        assert checkpoint.ModelFolder(path.parent).load().task == path.parent.name.split("-")[0]


@pytest.mark.parametrize("name", sorted(fuzz._STORES))
def test_the_stores_are_whole_and_read_in_one_update(base, tmp_path, monkeypatch, name):
    read = set()
    real = Store.__getitem__
    monkeypatch.setattr(Store, "__getitem__", lambda store, k: read.add(k) or real(store, k))
    monkeypatch.setattr("sys.argv", ["regard", *fuzz.train_command(name, tmp_path / "m", base / name)])
    with pytest.raises(SystemExit) as ended:
        fuzz.command_line()
    assert not ended.value.code
    assert read == set(range(len(Store(base / name, tuple))))


def test_a_case_is_the_same_each_time(base):
    def prepare(number):
        with fuzz._case(number, base) as (kind, command, _):
            return kind, [word.rsplit("/", 1)[-1] for word in command]

    assert [prepare(number) for number in range(30)] == [prepare(number) for number in range(30)]
    assert {prepare(number)[0] for number in range(len(fuzz._SHARES))} == set(fuzz.CASES)


def fault_of(base, monkeypatch, replacement):
    monkeypatch.setattr(checkpoint.ModelFolder, "_read_description", replacement)
    number = next(n for n in range(99) if fuzz._SHARES[n % len(fuzz._SHARES)] == "model folders")
    return fuzz.run_case(number, base, seconds=1).fault


def test_a_traceback_is_a_fault(base, monkeypatch):
    assert "ZeroDivisionError" in fault_of(base, monkeypatch, lambda _: 1 / 0)


def test_memory_beyond_the_limit_is_a_fault(base, monkeypatch):
    def full(_):
        raise MemoryError

    assert fault_of(base, monkeypatch, full).startswith("more than 2 GB: error: out of memory")


def test_a_hang_is_a_fault(base, monkeypatch):
    def hang(_):
        while True:
            pass

    assert fault_of(base, monkeypatch, hang) == "a hang of more than 1 seconds"


def test_the_table_counts(base):
    outcomes = [
        fuzz.Outcome(1, "inputs", "", "", 2, 0.5, 300),
        fuzz.Outcome(2, "inputs", "", "a hang", None, 20.0, 900),
        fuzz.Outcome(3, "model folders", "", "", 0, 0.1, 900),
    ]
    table = fuzz.outcome_table(outcomes)
    assert [list(row) for row in table.rows] == [
        ["model folders", "1", "0", "0", "1", "0.1", "900"],
        ["inputs", "2", "1", "1", "0", "20.0", "900"],
        ["all", "3", "1", "1", "1", "20.0", "900"],
    ]


def test_the_worker_answers_a_line_for_a_case(base, monkeypatch, capfd):
    worker = fuzz._Worker(base)
    try:
        outcome = worker.run(4)
    finally:
        worker.close()
    assert (outcome.number, outcome.fault) == (4, "")
    assert json.dumps(fuzz.asdict(outcome))
