import importlib
import json
import sys
from pathlib import Path

import pytest
from benchmarks.comparison import BAHDANAU, BF16, PLAIN, comparison_section
from benchmarks.contest import OURS, Turn
from benchmarks.growth import Plan
from benchmarks.peers import stopwatch
from benchmarks.step import Sizes

from benchmarks import __main__ as command
from benchmarks import changes, decoding, plain, plain_search, process, training, translating
from regard.errors import RegardError
from regard.tasks.translate.predictor import Translator


@pytest.fixture
def here(monkeypatch):
    """What would be done in a process of its own is done in this one."""

    def call(function, arguments, *, threads):
        module, name = function.split(":")
        found = getattr(importlib.import_module(module), name)(**json.loads(json.dumps(arguments)))
        return {**json.loads(json.dumps(found)), "peak_bytes": process.peak_bytes()}

    for module in (training, plain, changes, decoding, plain_search, translating, command):
        monkeypatch.setattr(module, "in_own_process", call)

    def translate(python, asked, own, name, *, threads, timed):
        with monkeypatch.context() as patched:
            patched.setattr(Translator, "find", Translator.find)  # put back behind the block
            patched.setattr(sys, "argv", sys.argv)
            seconds = stopwatch.timed(timed)
            stopwatch.do(asked.entry, asked.arguments)
        return {"seconds": seconds, "whole": 1.0, "peak_bytes": process.peak_bytes()}

    monkeypatch.setattr(translating, "call", translate)


@pytest.fixture
def wanted(longer, tmp_path):
    base = Sizes(Tx=2, Ty=2, n=4, B=2, V=9, m=4)
    plan = Plan(base, {"Tx": 1, "Ty": 1, "n": 2, "B": 1, "V": 6}, base, (2, 4), rounds=1, doublings=2)
    return command.Wanted({"toy": longer}, 1, 1, None, tmp_path / "out", plan, least=0)


@pytest.mark.usefixtures("here")
def test_all_of_it_makes_a_whole_report(wanted, capsys):
    sections = command.run("all", wanted)
    assert [section.key for section in sections] == [
        "training",
        "decoding",
        "floor",
        "stages",
        "changes",
        "growth",
    ]
    table = sections[0].tables[0]
    floors = ["bare products, at once", "bare products, stepped", "bare products, stepped, bf16"]
    assert [row[0] for row in table.rows] == [OURS, PLAIN, BAHDANAU, *floors]
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert len(sections[0].tables) == 1  # no peers, no table against them
    growth = sections[5]
    assert set(growth.numbers["time"]) == {"luong", "bahdanau"}
    assert all(set(rows) == {"Tx", "Ty", "n", "B", "V"} for rows in growth.numbers["time"].values())
    assert growth.numbers["time"]["luong"]["Tx"]["sizes"] == [1, 2]
    assert [row[0] for row in growth.tables[1].rows] == ["luong", "bahdanau", "lstmn"]
    assert all(0 < row["bytes"][0] < row["bytes"][1] for row in growth.numbers["memory"].values())
    losses = [float(turn["final_loss"]) for turn in sections[0].numbers["toy"]]
    assert losses[1] == pytest.approx(losses[0], rel=0.1)  # dropout's draws differ
    for name in ("results.json", "report.md", "report.html", "growth-time.png", "growth-memory.svg"):
        assert (wanted.out / name).stat().st_size > 0
    speeds, whole = sections[1].tables
    searching = [OURS, f"{OURS}, int8", f"{OURS}, bf16", PLAIN]
    assert [row[0] for row in speeds.rows[:4]] == searching
    assert [row[0] for row in whole.rows] == searching[:3]
    assert all(len(row) == len(speeds.columns) == 7 for row in speeds.rows)
    assert all(all(row) for row in speeds.rows)
    runs = sections[1].numbers["toy"]["beam 5, batches of 32"]["turns"]
    outputs = {run["name"]: run["outputs"] for run in runs}
    assert outputs[PLAIN] == outputs[OURS]  # the same weights, the same search
    said = capsys.readouterr()
    assert f"| {PLAIN} |" in said.out
    assert "the whole report" in said.err


def test_times_as_fast_are_quotients_of_shares_within_one_run(toy, seen):
    speed = {OURS: 100.0, BF16: 150.0, PLAIN: 80.0, "fairseq": 50.0, "eole": 25.0}
    order = [OURS, BF16, OURS, PLAIN, OURS, "eole", OURS, "fairseq", OURS]
    turns = [Turn(name, seen(speed[name], peak=2**20 * (4 if name == "eole" else 2))) for name in order]
    turns += [Turn("yoyodyne", None, "it fell"), Turn(OURS, seen(100.0))]
    floor = {"tokens_per_second": {"at once": 400.0, "stepped": 200.0, "stepped, bf16": 500.0}}
    section = comparison_section({"toy": turns}, {"toy": toy}, {"toy, luong": floor, "toy, bahdanau": floor})
    speeds, against = section.tables
    assert speeds.rows[0][1:4] == ["100", "1", "0.50"]
    assert speeds.rows[1][1:4] == ["150", "1.50", "0.30"]
    assert against.columns[1:-1] == [OURS, BF16, PLAIN]
    assert against.rows == [
        ["fairseq (the fastest)", "2.00", "3.00", "1.60", "1.00"],
        ["eole", "4.00", "6.00", "3.20", "0.50"],
    ]
    assert "toy: yoyodyne failed: it fell" in section.words


def test_the_command_line_says_what_is_wrong(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmarks", "floor", "--setting", "mtt"])
    with pytest.raises(SystemExit, match="2"):
        command.main()
    assert "did you mean 'mt'" in capsys.readouterr().err


def test_a_process_of_its_own_tells_its_peak():
    told = process.in_own_process("benchmarks.process:environment", {"threads": 3}, threads=1)
    assert told["OMP_NUM_THREADS"] == "3"
    assert 2**26 < told["peak_bytes"] < 2**33


def test_a_process_that_fails_is_quoted(monkeypatch, tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no such luck >&2\nexit 4\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(RegardError, match="x:y ended with status 4: no such luck"):
        process.in_own_process("benchmarks.x:y", {}, threads=1)


def test_make_bench_runs_it_and_passes_the_peers_on():
    rules = (Path(process.ROOT) / "Makefile").read_text()
    assert "-m benchmarks $(if $(PEERS),--peers $(PEERS))" in rules
    assert "/benchmark-out/" in (Path(process.ROOT) / ".gitignore").read_text().split()
