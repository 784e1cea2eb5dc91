"""A peer's training, measured: its own command line in a process of its own, under the stopwatch.

In: a folder of virtual environments, ``venv-NAME`` each. Out: `Measured`, as for ours. Nothing here is needed by
anything else: without that folder no peer is looked for.
"""

import shutil
from pathlib import Path

from benchmarks import corpora
from benchmarks.peers.call import call
from benchmarks.peers.commands import COMMANDS
from benchmarks.settings import Setting
from benchmarks.training import Measured
from regard.errors import DataError

PEERS = tuple(COMMANDS)


def python_of(name: str, folder: Path) -> Path:
    """The Python of a peer's environment."""
    return folder.absolute() / f"venv-{name}" / "bin" / "python"


def found(folder: Path) -> list[str]:
    """The peers whose environments lie in a folder.

    Raises:
        DataError: there is none.
    """
    names = [name for name in PEERS if python_of(name, folder).exists()]
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
    python = python_of(name, folder)
    data, own = work.absolute() / setting.name, work.absolute() / f"{name}-{setting.name}"
    if not data.exists():
        corpora.write(setting.corpus, data)
    own.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(own / "model", ignore_errors=True)
    command = COMMANDS[name](setting, data, own, setting.updates)
    if command.before is not None and not (own / "prepared.log").exists():
        call(python, command.before, own, "prepared", threads=threads)
    seen = call(python, command, own, "trained", threads=threads, updates=setting.updates)
    seen.pop("whole")
    return Measured(**seen, warmup=setting.warmup)
