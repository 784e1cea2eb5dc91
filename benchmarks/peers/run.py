"""A peer's training, measured: its own command line in a process of its own, under the stopwatch.

In: a folder of virtual environments, ``venv-NAME`` each. Out: `Measured`, as for ours. Nothing here is needed by
anything else: without that folder no peer is looked for.
"""

import json
import os
import shutil
import signal
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import corpora
from benchmarks.peers.commands import COMMANDS, Command
from benchmarks.process import environment
from benchmarks.settings import Setting
from benchmarks.training import Measured
from regard.errors import DataError, RegardError

PEERS = tuple(COMMANDS)
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
        answer: the file for what was seen.
    """

    entry: str
    arguments: list[str]
    patches: list[str]
    threads: int
    updates: int
    answer: str


def found(folder: Path) -> list[str]:
    """The peers whose environments lie in a folder.

    Raises:
        DataError: there is none.
    """
    names = [name for name in PEERS if (folder / f"venv-{name}" / "bin" / "python").exists()]
    if not names:
        known = ", ".join(f"venv-{name}" for name in PEERS)
        raise DataError(
            f"{folder}: holds no environment of a peer; make some of {known}, or leave --peers out"
        )
    return names


def measure(name: str, setting: Setting, folder: Path, work: Path, *, threads: int) -> Measured:
    """Let a peer train.

    Args:
        name: one of `PEERS`.
        setting: model, corpus and how many updates.
        folder: of the virtual environments.
        work: for corpora, configurations and what the peer writes.
        threads: how many it computes with.

    Raises:
        RegardError: it failed, or took too long.
    """
    python = folder.absolute() / f"venv-{name}" / "bin" / "python"
    data, own = work.absolute() / setting.name, work.absolute() / f"{name}-{setting.name}"
    if not data.exists():
        corpora.write(setting.corpus, data)
    own.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(own / "model", ignore_errors=True)
    command = COMMANDS[name](setting, data, own, setting.updates)
    if command.before is not None and not (own / "prepared.log").exists():
        _call(python, command.before, own, "prepared", threads=threads, updates=0)
    answer = _call(python, command, own, "trained", threads=threads, updates=setting.updates)
    return Measured(**json.loads(answer.read_text()), warmup=setting.warmup)


def _call(python: Path, command: Command, own: Path, name: str, *, threads: int, updates: int) -> Path:
    """Run a command; its words go to ``NAME.log``, and what the stopwatch saw to the file that comes back."""
    answer, log = own / f"{name}.json", own / f"{name}.log"
    answer.unlink(missing_ok=True)
    order = Order(command.entry, command.arguments, command.patches, threads, updates, str(answer))
    (own / "order.json").write_text(json.dumps(asdict(order)))
    quiet = {"PYTHONWARNINGS": "ignore", "WANDB_MODE": "disabled"}
    with log.open("w") as said:
        child = subprocess.Popen(
            [str(python), str(_STOPWATCH), str(own / "order.json")],
            stdout=said,
            stderr=said,
            stdin=subprocess.DEVNULL,
            cwd=own,
            env={**environment(threads), **quiet},
            start_new_session=True,
        )
        try:
            status = child.wait(LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)  # the session begun here, whatever it started itself
            child.wait()
            raise RegardError(f"{log}: took more than {LIMIT} s; measure fewer updates") from None
    if status or (updates and not answer.exists()):
        log.rename(log.with_suffix(".failed"))
        raise RegardError(
            f"{log.with_suffix('.failed')}: ended with status {status}, before {updates} updates were done; see there"
        )
    return answer
