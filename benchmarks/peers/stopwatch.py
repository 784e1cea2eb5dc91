"""Runs a toolkit's command in this process and times it, in the same way for all toolkits.

In: a JSON file (see `run.Timing`). Out: a JSON file with the seconds, tokens and loss of every update and the peak
memory. Tokens are counted where the loss is computed, without padding; an update ends when the optimizer has stepped.
After the last update to be timed the process ends at once: nothing is validated or saved. If a function is to be timed
instead, the file has the seconds of each of its calls and is written when the command is done; if nothing is to be
timed, it has none.

This file is run as a script by the peer's own Python and imports only torch and `patches`.
"""

import importlib
import json
import os
import runpy
import sys
import time
from pathlib import Path
from typing import Any

STARTED = time.perf_counter()


class Stopwatch:
    """Counts tokens at the loss and records the time of each optimizer step.

    Args:
        updates: the process ends after this update; 0 for never.
        result: the file for the times.
    """

    def __init__(self, updates: int, result: Path) -> None:
        self.updates, self.result = updates, result
        self.seconds: list[float] = []
        self.tokens: list[int] = []
        self.losses: list[float] = []
        self._last = STARTED
        self._counted, self._summed = 0, 0.0

    def install(self) -> None:
        """Wrap torch's losses, and hook every optimizer's step."""
        from torch.nn import functional
        from torch.optim.optimizer import register_optimizer_step_post_hook

        for name in ("cross_entropy", "nll_loss"):
            setattr(functional, name, self._counting(getattr(functional, name)))
        register_optimizer_step_post_hook(self._stepped)

    def _counting(self, loss: Any) -> Any:
        def counted(input: Any, target: Any, *arguments: Any, **options: Any) -> Any:
            value = loss(input, target, *arguments, **options)
            if value.requires_grad:
                ignored = options.get("ignore_index", arguments[2] if len(arguments) > 2 else -100)
                count = int((target != ignored).sum())
                mean = value.dim() == 0 and options.get("reduction", "mean") == "mean"
                self._counted += count
                self._summed += float(value.detach().sum()) * (count if mean else 1)
            return value

        return counted

    def _stepped(self, *_: Any) -> None:
        now = time.perf_counter()
        self.seconds.append(now - self._last)
        self.tokens.append(self._counted)
        self.losses.append(self._summed / max(self._counted, 1))
        self._last, self._counted, self._summed = now, 0, 0.0
        if len(self.seconds) == self.updates:
            self.write()
            sys.stdout.flush()
            os._exit(0)

    def write(self) -> None:
        """Write the result."""
        write_result(self.result, {"seconds": self.seconds, "tokens": self.tokens, "losses": self.losses})


def write_result(path: Path, times: dict[str, Any]) -> None:
    """Write the times and the peak memory."""
    status = Path("/proc/self/status").read_text().split()
    peak = int(status[status.index("VmHWM:") + 1]) * 1024
    path.write_text(json.dumps({**times, "peak_bytes": peak}))


def time_calls(name: str) -> list[float]:
    """Wrap ``module:function`` or ``module:Class.method``; the list gets the seconds of every call."""
    module, _, path = name.partition(":")
    *owners, last = path.split(".")
    owner: Any = importlib.import_module(module)
    for part in owners:
        owner = getattr(owner, part)
    function, seconds = getattr(owner, last), []

    def call(*arguments: Any, **options: Any) -> Any:
        started = time.perf_counter()
        result = function(*arguments, **options)
        seconds.append(time.perf_counter() - started)
        return result

    setattr(owner, last, call)
    return seconds


def run_entry(entry: str, arguments: list[str]) -> None:
    """Run a module, or call ``module:function``, as its own command would; a status other than 0 is raised."""
    module, _, function = entry.partition(":")
    sys.argv = [module, *arguments]
    try:
        if function:
            getattr(importlib.import_module(module), function)()
        else:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code:
            raise


def main() -> None:
    """Run and time the command."""
    timing = json.loads(Path(sys.argv[1]).read_text())
    from patches import PATCHES  # type: ignore[import-not-found]  # found beside a script

    sys.path.pop(0)  # this folder: no other import may find its modules
    for name in timing["patches"]:
        PATCHES[name]()
    import torch

    torch.set_num_threads(timing["threads"])
    result = Path(timing["result"])
    if timing["updates"]:
        Stopwatch(timing["updates"], result).install()
        run_entry(timing["entry"], timing["arguments"])
        return
    seconds = time_calls(timing["timed"]) if timing.get("timed") else []
    run_entry(timing["entry"], timing["arguments"])
    write_result(result, {"seconds": seconds})
    sys.stdout.flush()
    os._exit(0)  # all is written; the threads of one toolkit sometimes block a normal exit


if __name__ == "__main__":
    main()
