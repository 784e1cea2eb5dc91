"""A short run of the kill test, in processes of its own."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

from benchmarks.kill import PHASES, SIGNALS, Tally, difference

ROOT = Path(__file__).parents[2]


def first_signal(seed):
    """The signal that the first session of a run meets."""
    rng = random.Random(seed)
    rng.randint(4, 16)
    return rng.choice(SIGNALS)


def test_killed_runs_are_the_unbroken_run():
    """Also where SIGHUP is ignored, as under nohup: the sessions obey it all the same."""
    seed = next(seed for seed in range(99) if first_signal(seed) is signal.SIGHUP)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.kill", "--kills", "6", "--seed", str(seed)],
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "equal to the unbroken run in store, weights, log and report" in done.stdout
    (hangups,) = (line.split() for line in done.stdout.splitlines() if "SIGHUP" in line)
    assert int(hangups[-1]) > 0


def test_a_difference_names_what_differs():
    assert difference("log", [1], [1]) == ""
    assert difference("log", [1], [2]) == "log"
    assert (
        difference("store", {"a": b"1", "b": b""}, {"a": b"2", "b": b"", ".lock": b""}) == "store (.lock a)"
    )


def test_the_table_counts_signals_and_phases():
    tally = Tally()
    tally.kills.update([("SIGKILL", "update"), ("SIGKILL", "update"), ("SIGHUP", "validate")])
    lines = tally.table().splitlines()
    assert lines[0].split() == ["signal", *PHASES, "all"]
    assert lines[1].split() == ["SIGKILL", "0", "0", "2", "0", "0", "2"]
    assert lines[-1].split() == ["all", "0", "0", "2", "1", "0", "3"]
