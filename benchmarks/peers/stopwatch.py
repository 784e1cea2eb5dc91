"""Runs another toolkit's command in this process, with the same stopwatch for all of them.

In: a JSON file that says what to call (see `call.Order`). Out: a JSON file with seconds, tokens and loss of every
update and the peak of memory. Tokens are counted where the loss is taken, padding left out; an update ends when an
optimizer has stepped. After the last update wanted the process ends on the spot: nothing is validated or saved. Where
a function is to be timed instead, the file has the seconds of each of its calls and is written when the command is
done; so it is, empty, where nothing is watched.

This file is run as a script by the peer's own Python and imports nothing but torch and what lies beside it.
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
    """Counts what the loss sees, and takes the time at each step of an optimizer.

    Args:
        updates: after how many to end the process; 0 for never.
        answer: where to write what was seen.
    """

    def __init__(self, updates: int, answer: Path) -> None:
        self.updates, self.answer = updates, answer
        self.seconds: list[float] = []
        self.tokens: list[int] = []
        self.losses: list[float] = []
        self._last = STARTED
        self._counted, self._summed = 0, 0.0

    def watch(self) -> None:
        """Put the counters in place: around torch's losses, and behind every optimizer's step."""
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
            self.tell()
            sys.stdout.flush()
            os._exit(0)

    def tell(self) -> None:
        """Write what was seen."""
        write(self.answer, {"seconds": self.seconds, "tokens": self.tokens, "losses": self.losses})


def write(answer: Path, seen: dict[str, Any]) -> None:
    """Write what was seen, and the peak of memory."""
    status = Path("/proc/self/status").read_text().split()
    peak = int(status[status.index("VmHWM:") + 1]) * 1024
    answer.write_text(json.dumps({**seen, "peak_bytes": peak}))


def timed(name: str) -> list[float]:
    """The seconds of every call of ``module:function`` or ``module:Class.method``, as they come."""
    module, _, path = name.partition(":")
    *owners, last = path.split(".")
    owner: Any = importlib.import_module(module)
    for each in owners:
        owner = getattr(owner, each)
    function, seconds = getattr(owner, last), []

    def call(*arguments: Any, **options: Any) -> Any:
        started = time.perf_counter()
        result = function(*arguments, **options)
        seconds.append(time.perf_counter() - started)
        return result

    setattr(owner, last, call)
    return seconds


def do(entry: str, arguments: list[str]) -> None:
    """Run a module, or call ``module:function``, as its own command would; one that says it failed ends this."""
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
    """Do what the order says."""
    order = json.loads(Path(sys.argv[1]).read_text())
    from patches import PATCHES  # type: ignore[import-not-found]  # found beside a script

    sys.path.pop(0)  # this folder: nobody else's imports may find it
    for name in order["patches"]:
        PATCHES[name]()
    import torch

    torch.set_num_threads(order["threads"])
    answer = Path(order["answer"])
    if order["updates"]:
        Stopwatch(order["updates"], answer).watch()
        do(order["entry"], order["arguments"])
        return
    seconds = timed(order["timed"]) if order.get("timed") else []
    do(order["entry"], order["arguments"])
    write(answer, {"seconds": seconds})
    sys.stdout.flush()
    os._exit(0)  # the work is done; one toolkit's threads are now and then in the way of an orderly end


if __name__ == "__main__":
    main()
