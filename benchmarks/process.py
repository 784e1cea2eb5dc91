"""A measurement in a process of its own, so that its peak of memory is its own and nothing is warm before it.

In: a function by name, and arguments that JSON can carry. Out: what it returned, with the peak of memory. The child
is this very module: ``python -m benchmarks.process benchmarks.training:train``, arguments on its standard input.
"""

import importlib
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from regard.errors import RegardError

ROOT = Path(__file__).resolve().parent.parent
_HIGH_WATER = "VmHWM:"


def environment(threads: int) -> dict[str, str]:
    """What a child is started with: so many threads, whoever in it asks for them."""
    return {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}


def in_own_process(function: str, arguments: dict[str, Any], *, threads: int) -> dict[str, Any]:
    """Call a function in a fresh Python.

    Args:
        function: such as ``benchmarks.training:train``; it returns a dictionary for JSON.
        arguments: its keyword arguments.
        threads: how many it computes with.

    Returns:
        What it returned, and ``peak_bytes``.

    Raises:
        RegardError: it failed; the end of what it said is in the message.
    """
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.process", function],
        input=json.dumps({"threads": threads, "arguments": arguments}),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment(threads),
        check=False,
    )
    if done.returncode:
        raise RegardError(
            f"{function} ended with status {done.returncode}: {done.stderr[-2000:].strip() or 'without a word'}; "
            "mend what it says, or leave this measurement out"
        )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def peak_bytes() -> int:
    """The most memory this process has held.

    Linux is asked for the high-water mark of this program's own memory: ``ru_maxrss`` also remembers the process that
    started it, before it became this program.
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
    given = json.load(sys.stdin)
    torch.set_num_threads(given["threads"])
    result = getattr(importlib.import_module(module), name)(**given["arguments"])
    print(json.dumps({**result, "peak_bytes": peak_bytes()}))


if __name__ == "__main__":
    _main()
