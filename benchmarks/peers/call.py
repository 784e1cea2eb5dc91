"""A command line in a process of its own, under the stopwatch: a peer's by its own Python, or Regard's by this one.

In: a Python, a `Command`, and what to watch. Out: what the stopwatch saw, with the seconds from start to end. What the
command says goes to a file beside its answer.
"""

import json
import os
import signal
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers.commands import Command
from benchmarks.process import ROOT, environment
from regard.errors import RegardError

LIMIT = 600  # seconds a run may take
_STOPWATCH = Path(__file__).with_name("stopwatch.py")


@dataclass(frozen=True)
class Order:
    """What the stopwatch is told.

    Attributes:
        entry: a module to run, or ``module:function`` to call.
        arguments: of the command.
        patches: see `patches`.
        threads: how many it computes with.
        updates: after how many it ends; 0 where none are watched.
        timed: the function whose calls are timed; empty for none.
        answer: the file for what was seen.
    """

    entry: str
    arguments: list[str]
    patches: list[str]
    threads: int
    updates: int
    timed: str
    answer: str


def call(
    python: Path, command: Command, own: Path, name: str, *, threads: int, updates: int = 0, timed: str = ""
) -> dict[str, Any]:
    """Run a command.

    Args:
        python: who runs it.
        command: what.
        own: the folder it works in.
        name: its words go to ``NAME.log`` there, and what the stopwatch saw to ``NAME.json``.
        threads: how many it computes with.
        updates: how many to watch; the process ends behind the last.
        timed: the function whose calls to watch instead.

    Returns:
        What ``NAME.json`` holds; and ``whole``, the seconds from the process's start to its end.

    Raises:
        RegardError: it failed, or took too long.
    """
    answer, log = own / f"{name}.json", own / f"{name}.log"
    answer.unlink(missing_ok=True)
    order = Order(command.entry, command.arguments, command.patches, threads, updates, timed, str(answer))
    (own / "order.json").write_text(json.dumps(asdict(order)))
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    also = {"PYTHONWARNINGS": "ignore", "WANDB_MODE": "disabled", "PYTHONPATH": paths}
    started = time.perf_counter()
    with log.open("w") as said:
        child = subprocess.Popen(
            [str(python), str(_STOPWATCH), str(own / "order.json")],
            stdout=said,
            stderr=said,
            stdin=subprocess.DEVNULL,
            cwd=own,
            env={**environment(threads), **also},
            start_new_session=True,
        )
        try:
            status = child.wait(LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)  # the session begun here, whatever it started itself
            child.wait()
            raise RegardError(f"{log}: took more than {LIMIT} s; ask for less") from None
    whole = time.perf_counter() - started
    if status or not answer.exists():
        log.rename(log.with_suffix(".failed"))
        before = f", before {updates} updates were done" if updates else ""
        raise RegardError(f"{log.with_suffix('.failed')}: ended with status {status}{before}; see there")
    return {**json.loads(answer.read_text()), "whole": whole}
