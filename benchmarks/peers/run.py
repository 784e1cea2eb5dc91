"""Training and search of other toolkits, measured: their own command lines in subprocesses, timed by `stopwatch`.

In: a folder of virtual environments, ``venv-NAME`` each, and a setting. Out: `TrainingResult` and `SearchTiming`, as
for Regard. What a command prints goes to a log file. Without that folder no peer is needed.
"""

import json
import os
import shutil
import signal
import subprocess
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import corpora
from benchmarks.peers import marian
from benchmarks.peers.commands import COMMANDS, Command
from benchmarks.peers.search_commands import LOG, SEARCHES
from benchmarks.process import ROOT, environment
from benchmarks.search_cases import (
    BEAM,
    LARGE,
    SINGLE,
    SearchCase,
    SearchTiming,
    check_work,
    search_cases,
    write_cases,
)
from benchmarks.settings import Setting
from benchmarks.training import TrainingResult
from regard.errors import DataError, RegardError

PEERS = (*COMMANDS, marian.NAME)
LIMIT = 600  # seconds a command may take
UPDATES = 12
"""Updates of the model that searches: the words do not matter, only that there is a checkpoint."""
SLOW = {("yoyodyne", "mt", BEAM): (4, 2), ("yoyodyne", "mt", SINGLE): (1, 4)}
"""Peer, setting and case that would take minutes → a smaller batch size and number of batches."""
_STOPWATCH = Path(__file__).with_name("stopwatch.py")


@dataclass(frozen=True)
class Timing:
    """What `stopwatch` runs and times.

    Attributes:
        entry: a module to run, or ``module:function`` to call.
        arguments: of the command.
        patches: names of `patches.PATCHES`.
        threads: the number of threads.
        updates: the process ends after this update; 0 to time no updates.
        timed: the function whose calls are timed; empty for none.
        result: the file for the times.
    """

    entry: str
    arguments: list[str]
    patches: list[str]
    threads: int
    updates: int
    timed: str
    result: str


def run_command(
    python: Path, command: Command, work: Path, name: str, *, threads: int, updates: int = 0, timed: str = ""
) -> dict[str, Any]:
    """Run a command and time it.

    Args:
        python: the interpreter.
        command: the entry and its arguments.
        work: the folder it runs in.
        name: its output goes to ``NAME.log`` there, and the times to ``NAME.json``.
        threads: the number of threads.
        updates: the number of updates to time; the process ends after the last.
        timed: the function whose calls to time instead.

    Returns:
        What ``NAME.json`` holds; and ``total_seconds``, from the start of the process to its end.

    Raises:
        RegardError: it failed, or took too long.
    """
    result, log = work / f"{name}.json", work / f"{name}.log"
    result.unlink(missing_ok=True)
    timing = Timing(command.entry, command.arguments, command.patches, threads, updates, timed, str(result))
    (work / "timing.json").write_text(json.dumps(asdict(timing)))
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    variables = {"PYTHONWARNINGS": "ignore", "WANDB_MODE": "disabled", "PYTHONPATH": paths}
    started = time.perf_counter()
    with log.open("w") as output:
        child = subprocess.Popen(
            [str(python), str(_STOPWATCH), str(work / "timing.json")],
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
            cwd=work,
            env={**environment(threads), **variables},
            start_new_session=True,
        )
        try:
            status = child.wait(LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)  # the new session: this child and its own children
            child.wait()
            raise RegardError(f"{log}: took more than {LIMIT} s; choose less work") from None
    total_seconds = time.perf_counter() - started
    if status or not result.exists():
        log.rename(log.with_suffix(".failed"))
        before = f" before {updates} updates were done" if updates else ""
        raise RegardError(f"{log.with_suffix('.failed')}: ended with status {status}{before}; see there")
    return {**json.loads(result.read_text()), "total_seconds": total_seconds}


def python_path(name: str, environments: Path) -> Path:
    """The Python of a peer's environment."""
    return environments.absolute() / f"venv-{name}" / "bin" / "python"


def installed(environments: Path) -> list[str]:
    """The peers that have an environment in a folder.

    Raises:
        DataError: there is none.
    """
    names = [name for name in PEERS if python_path(name, environments).exists()]
    if not names:
        known = ", ".join(f"venv-{name}" for name in PEERS)
        raise DataError(
            f"{environments}: no environment of a peer; create some of {known}, or leave --peers out"
        )
    return names


def searchers(setting: Setting, environments: Path) -> list[str]:
    """The contenders of those peers in a search: one each, and Marian's int8 where a shortlist makes sense."""
    names = installed(environments)
    quantised = marian.NAME in names and setting.vocabulary > LARGE
    return [*names, *([marian.QUANTISED] if quantised else [])]


def measure_training(
    name: str, setting: Setting, environments: Path, work: Path, *, threads: int
) -> TrainingResult:
    """Train with a peer.

    Args:
        name: one of `PEERS`.
        setting: the model, its corpus and the number of updates.
        environments: the folder of the virtual environments.
        work: for corpora, configurations and what the peer writes.
        threads: the number of threads.

    Raises:
        RegardError: it failed, or took too long.
    """
    python = python_path(name, environments)
    data, own = work.absolute() / setting.name, work.absolute() / f"{name}-{setting.name}"
    if not data.exists():
        corpora.write(setting.corpus, data)
    own.mkdir(parents=True, exist_ok=True)
    if name == marian.NAME:
        return marian.measure_training(setting, python, data, own, threads=threads)
    shutil.rmtree(own / "model", ignore_errors=True)
    command = COMMANDS[name](setting, data, own, setting.updates)
    if command.before is not None and not (own / "prepared.log").exists():
        run_command(python, command.before, own, "prepared", threads=threads)
    measured = run_command(python, command, own, "trained", threads=threads, updates=setting.updates)
    measured.pop("total_seconds")
    return TrainingResult(**measured, warmup=setting.warmup)


def reduced_case(name: str, setting: Setting, case: SearchCase) -> SearchCase:
    """The case that a peer searches: the case itself, or a smaller one where it would take minutes."""
    batch, calls = SLOW.get((name, setting.name, case.name), (case.batch, case.calls))
    return replace(case, batch=batch, calls=calls)


def measure_search(
    name: str, setting: Setting, case: SearchCase, environments: Path, work: Path, *, threads: int
) -> SearchTiming:
    """Search with a peer; the first time it trains a model, which is used again.

    Args:
        name: one of `SEARCHES`, or of `marian.VARIANTS`.
        setting: the model and its corpus.
        case: the sentences, the beam and the batch size.
        environments: the folder of the virtual environments.
        work: for corpora, configurations and what the peer writes.
        threads: the number of threads.

    Raises:
        RegardError: it failed, took too long, or did other work than the case's.
    """
    toolkit = name.partition(",")[0]
    python = python_path(toolkit, environments)
    data, own = search_corpus(setting, work), work.absolute() / f"{toolkit}-{setting.name}-search"
    own.mkdir(parents=True, exist_ok=True)
    if toolkit == marian.NAME:
        return marian.measure_search(name, setting, case, python, data, own, threads=threads)
    if not (own / "trained.json").exists():
        training = COMMANDS[name](setting, data, own, UPDATES)
        if training.before is not None:
            run_command(python, training.before, own, "prepared", threads=threads)
        run_command(python, training, own, "trained", threads=threads)
    reduced = reduced_case(name, setting, case)
    search = SEARCHES[name](setting, reduced, data, own)
    if search.command.before is not None and not (own / f"{reduced.file_stem}.json").exists():
        run_command(python, search.command.before, own, reduced.file_stem, threads=threads)
    search.output.unlink(missing_ok=True)
    measured = run_command(python, search.command, own, Path(LOG).stem, threads=threads, timed=search.timed)
    timing = check_work(measured, reduced, setting.output_words, search.outputs())
    return replace(timing, reduced=reduced != case)


def search_corpus(setting: Setting, work: Path) -> Path:
    """The folder of the setting's corpus with the sentences of all cases; written if it is not there yet."""
    data = work.absolute() / f"{setting.name}-search"
    slow = [SearchCase("", 1, batch, calls) for batch, calls in SLOW.values()]
    cases = [*search_cases(setting), *slow]
    if not all((data / f"{case.file_stem}.tsv").exists() for case in cases):
        write_cases(setting, cases, data)
    return data
