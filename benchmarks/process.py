"""Measurements in subprocesses: each starts cold, and its peak memory is its own.

In: a function by name, and arguments that JSON can carry. Out: what it returned, with the peak memory. The child runs
this module: ``python -m benchmarks.process benchmarks.training:train``, with the arguments on its standard input.
"""

import importlib
import json
import os
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regard.errors import RegardError

ROOT = Path(__file__).resolve().parent.parent
_HIGH_WATER = "VmHWM:"


def environment(threads: int) -> dict[str, str]:
    """The environment of a child: every library in it computes with `threads` threads, which wait as it chooses."""
    inherited = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"}
    return {**inherited, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}


def run_regard(arguments: Sequence[str], threads: int) -> str:
    """Run a command of Regard as a user would, and return what it printed.

    Raises:
        RegardError: it failed; the message ends with the end of its standard error.
    """
    command = [sys.executable, "-m", "regard", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(threads), check=False)
    if done.returncode:
        raise RegardError(f"regard {' '.join(arguments)} failed: {done.stderr[-2000:].strip()}")
    return done.stdout


def run_in_subprocess(
    function: str, arguments: dict[str, Any], *, threads: int, variables: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Call a function in a new Python process.

    Args:
        function: such as ``benchmarks.training:train``; it returns a dictionary for JSON.
        arguments: its keyword arguments.
        threads: the number of threads it computes with.
        variables: environment variables to set for the child.

    Returns:
        What it returned, and ``peak_bytes``.

    Raises:
        RegardError: it failed; the message ends with the end of its standard error.
    """
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.process", function],
        input=json.dumps({"threads": threads, "arguments": arguments}),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**environment(threads), **(variables or {})},
        check=False,
    )
    if done.returncode:
        raise RegardError(
            f"{function} ended with status {done.returncode}: {done.stderr[-2000:].strip() or 'no message'}; "
            "fix the cause, or leave this measurement out"
        )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def peak_bytes() -> int:
    """The peak memory of this process.

    On Linux this is the high-water mark of the program itself: ``ru_maxrss`` also includes the parent's memory at the
    time of the fork.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith(_HIGH_WATER):
            return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _main() -> None:
    import torch

    module, name = sys.argv[1].split(":")
    call = json.load(sys.stdin)
    torch.set_num_threads(call["threads"])
    result = getattr(importlib.import_module(module), name)(**call["arguments"])
    print(json.dumps({**result, "peak_bytes": peak_bytes()}))


if __name__ == "__main__":
    _main()
