import importlib
import json
import sys
from pathlib import Path

import pytest
from benchmarks.compare_training import BAHDANAU, BF16, training_section
from benchmarks.interleave import REGARD, Trial
from benchmarks.peers import stopwatch
from benchmarks.scaling import Plan, Sizes

from benchmarks import __main__ as command
from benchmarks import ablation, compare_search, decoding, plain, process, training
from regard.errors import RegardError
from regard.tasks.translate.predictor import Translator

PLAIN = plain.NAME


@pytest.fixture
def in_process(monkeypatch):
    """Calls that would run in a subprocess run in this process."""

    def call(function, arguments, *, threads):
        module, name = function.split(":")
        returned = getattr(importlib.import_module(module), name)(**json.loads(json.dumps(arguments)))
        return {**json.loads(json.dumps(returned)), "peak_bytes": process.peak_bytes()}

    for module in (training, plain, ablation, decoding, compare_search, command):
        monkeypatch.setattr(module, "run_in_subprocess", call)

    def translate(python, command, work, name, *, threads, timed):
        with monkeypatch.context() as patched:
            patched.setattr(Translator, "search", Translator.search)  # restored after the block
            patched.setattr(sys, "argv", sys.argv)
            seconds = stopwatch.time_calls(timed)
            stopwatch.run_entry(command.entry, command.arguments)
        return {"seconds": seconds, "total_seconds": 1.0, "peak_bytes": process.peak_bytes()}

    monkeypatch.setattr(decoding, "run_command", translate)


@pytest.fixture
def options(longer, tmp_path):
    base = Sizes(Tx=2, Ty=2, n=4, B=2, V=9, m=4)
    plan = Plan(base, {"Tx": 1, "Ty": 1, "n": 2, "B": 1, "V": 6}, base, (2, 4), rounds=1, doublings=2)
    return command.Options({"toy": longer}, 1, 1, None, tmp_path / "out", plan, min_seconds=0)


@pytest.mark.usefixtures("in_process")
def test_all_measurements_make_a_report(options, capsys):
    sections = command.run("all", options)
    assert [section.key for section in sections] == [
        "training",
        "search",
        "lower-bound",
        "breakdown",
        "ablation",
        "scaling",
    ]
    table = sections[0].tables[0]
    bounds = [
        "matrix products alone, at once",
        "matrix products alone, stepwise",
        "matrix products alone, stepwise, bf16",
    ]
    assert [row[0] for row in table.rows] == [REGARD, PLAIN, BAHDANAU, *bounds]
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert len(sections[0].tables) == 1  # no peers, no table against them
    scaling = sections[5]
    assert set(scaling.numbers["time"]) == {"luong", "bahdanau"}
    assert all(set(rows) == {"Tx", "Ty", "n", "B", "V"} for rows in scaling.numbers["time"].values())
    assert scaling.numbers["time"]["luong"]["Tx"]["sizes"] == [1, 2]
    assert [row[0] for row in scaling.tables[1].rows] == ["luong", "bahdanau", "lstmn"]
    assert all(0 < row["bytes"][0] < row["bytes"][1] for row in scaling.numbers["memory"].values())
    losses = [float(trial["final_loss"]) for trial in sections[0].numbers["toy"]]
    assert losses[1] == pytest.approx(losses[0], rel=0.1)  # the dropout masks differ
    for name in ("results.json", "report.md", "report.html", "scaling-time.png", "scaling-memory.svg"):
        assert (options.out / name).stat().st_size > 0
    speeds, commands = sections[1].tables
    contenders = [REGARD, f"{REGARD}, int8", f"{REGARD}, bf16", PLAIN]
    assert [row[0] for row in speeds.rows[:4]] == contenders
    assert [row[0] for row in commands.rows] == contenders[:3]
    assert all(len(row) == len(speeds.columns) == 7 for row in speeds.rows)
    assert all(all(row) for row in speeds.rows)
    runs = sections[1].numbers["toy"]["beam 5, batches of 32"]["trials"]
    outputs = {run["name"]: run["outputs"] for run in runs}
    assert outputs[PLAIN] == outputs[REGARD]  # the same weights, the same search
    printed = capsys.readouterr()
    assert f"| {PLAIN} |" in printed.out
    assert "report: " in printed.err


def test_times_as_fast_are_quotients_of_ratios_within_one_run(toy, result):
    speed = {REGARD: 100.0, BF16: 150.0, PLAIN: 80.0, "fairseq": 50.0, "eole": 25.0}
    order = [REGARD, BF16, REGARD, PLAIN, REGARD, "eole", REGARD, "fairseq", REGARD]
    trials = [Trial(name, result(speed[name], peak=2**20 * (4 if name == "eole" else 2))) for name in order]
    trials += [Trial("yoyodyne", None, "out of memory"), Trial(REGARD, result(100.0))]
    bound = {"tokens_per_second": {"at once": 400.0, "stepwise": 200.0, "stepwise, bf16": 500.0}}
    section = training_section({"toy": trials}, {"toy": toy}, {"toy, luong": bound, "toy, bahdanau": bound})
    speeds, against = section.tables
    assert speeds.rows[0][1:4] == ["100", "1", "0.50"]
    assert speeds.rows[1][1:4] == ["150", "1.50", "0.30"]
    assert against.columns[1:-1] == [REGARD, BF16, PLAIN]
    assert against.rows == [
        ["fairseq (the fastest)", "2.00", "3.00", "1.60", "1.00"],
        ["eole", "4.00", "6.00", "3.20", "0.50"],
    ]
    assert "toy: yoyodyne failed: out of memory" in section.paragraphs


def test_the_command_names_the_nearest_setting(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmarks", "lower-bound", "--setting", "mtt"])
    with pytest.raises(SystemExit, match="2"):
        command.main()
    assert "did you mean 'mt'" in capsys.readouterr().err


def test_a_subprocess_reports_its_peak_memory():
    returned = process.run_in_subprocess("benchmarks.process:environment", {"threads": 3}, threads=1)
    assert returned["OMP_NUM_THREADS"] == "3"
    assert 2**26 < returned["peak_bytes"] < 2**33


def test_a_subprocess_chooses_how_its_threads_wait(monkeypatch):
    """Also another checkout or toolkit: what this package set for itself is not passed on."""
    monkeypatch.setenv("GOMP_SPINCOUNT", "7")
    assert "GOMP_SPINCOUNT" not in process.environment(1)


def test_the_error_of_a_subprocess_is_quoted(monkeypatch, tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no such module >&2\nexit 4\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(RegardError, match="x:y ended with status 4: no such module"):
        process.run_in_subprocess("benchmarks.x:y", {}, threads=1)


def test_make_bench_passes_the_peers():
    rules = (Path(process.ROOT) / "Makefile").read_text()
    assert "-m benchmarks $(if $(PEERS),--peers $(PEERS))" in rules
    assert "/benchmark-out/" in (Path(process.ROOT) / ".gitignore").read_text().split()
