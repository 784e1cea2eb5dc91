"""A short run of the kill test, in processes of its own."""

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.kill import PHASES, Tally

ROOT = Path(__file__).parents[2]


def test_killed_runs_are_the_unbroken_run():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.kill", "--kills", "6", "--seed", "3"],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "equal to the unbroken run in store, weights, log and report" in done.stdout


def test_the_table_counts_signals_and_phases():
    tally = Tally()
    tally.kills.update([("SIGKILL", "update"), ("SIGKILL", "update"), ("SIGHUP", "validate")])
    lines = tally.table().splitlines()
    assert lines[0].split() == ["signal", *PHASES, "all"]
    assert lines[1].split() == ["SIGKILL", "0", "0", "2", "0", "0", "2"]
    assert lines[-1].split() == ["all", "0", "0", "2", "1", "0", "3"]
