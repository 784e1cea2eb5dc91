"""Whether preparing and training survive being killed: ``python -m benchmarks.kill``; see its ``--help``.

Text is prepared and a model is trained from the store, without a break. Then the same is done again and again, killed
at random moments (SIGKILL, and now and then SIGTERM or SIGHUP) while it prepares, starts, updates, validates and writes
checkpoints, and resumed until it ends. Store, weights, log and report have to be those of the unbroken run, to the byte
and to the line.

Every session is a process of its own, forked from one that has imported the package, so that some hundred kills take
minutes. Prints progress on standard error, a table on standard output; exits with 1 where anything differs.
"""

import argparse
import json
import mmap
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import safetensors.numpy

from regard.batches.store import is_store
from regard.checkpoint import read_log
from regard.errors import DataError
from regard.io import LOCK
from regard.tasks.translate.task import TranslateTask
from regard.training import prepare
from regard.training.configure import configure
from regard.training.loop import Loop
from regard.training.run import run_training
from regard.training.state import Checkpoints

PHASES = ("prepare", "start", "update", "validate", "checkpoint")
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)
_CLOCK = ("seconds", "tokens_per_second", "train_seconds")
STOPPED, FAILED = 130, 70
"""The exit statuses of a session that a signal stopped with a checkpoint, and of one that failed."""
_WAIT = 600.0  # seconds that a session may take before it counts as hanging; a busy machine lets it wait

CONFIG = {
    "preset": "rnnsearch-small",
    "tokenizer": {"source": "word", "target": "word"},
    "model": {
        "encoder": {"embedding_size": 8, "state_size": 16, "dropout": 0.2},
        "decoder": {"embedding_size": 8, "state_size": 16, "attention": {"size": 8}, "dropout": 0.2},
    },
    "auxiliary_losses": {"scheduled_sampling": 0.3},
    "training": {
        "max_updates": 24,
        "max_epochs": 0,
        "validate_every": 6,
        "checkpoint_minutes": 0.0005,
        "batch_sentences": 8,
        "batch_tokens": 100,
        "device": "cpu",
        "keep_best": 2,
    },
}
NUM_CHUNKS = 12
WORDS = "abcdefgh"
PAIRS = [(f"{a} {b} {c}", f"{c} {b} {a}".upper()) for a in WORDS for b in WORDS[:4] for c in WORDS[:3]]


@dataclass
class Tally:
    """What happened: kills by signal and phase, runs that were compared, and what differed in them."""

    kills: Counter[tuple[str, str]] = field(default_factory=Counter)
    sessions: int = 0
    runs: int = 0
    differences: list[str] = field(default_factory=list)

    def table(self) -> str:
        """The kills, one row per signal."""
        names = list(dict.fromkeys(number.name for number in SIGNALS))
        rows = [["signal", *PHASES, "all"]]
        for name in names:
            counts = [self.kills[name, phase] for phase in PHASES]
            rows.append([name, *map(str, counts), str(sum(counts))])
        columns = [sum(self.kills[name, phase] for name in names) for phase in PHASES]
        rows.append(["all", *map(str, columns), str(self.kills.total())])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows
        )


class Phases:
    """What a session is doing, in memory that it shares with its parent: how often it entered each phase."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 1 + len(PHASES))

    def reset(self) -> None:
        """Begin a session."""
        self._memory[:] = bytes(1 + len(PHASES))

    def enter(self, phase: int) -> None:
        """Say which phase begins, by its number."""
        self._memory[0] = phase
        self._memory[1 + phase] = (self._memory[1 + phase] + 1) % 256

    @property
    def current(self) -> str:
        """The phase it is in."""
        return PHASES[self._memory[0]]

    def count(self, phase: str) -> int:
        """How often it entered a phase."""
        return self._memory[1 + PHASES.index(phase)]

    def watch(self) -> None:
        """Let this process say which phase it enters."""
        for owner, name, phase in (
            (prepare, "_encode_chunk", "prepare"),
            (prepare, "write_part", "prepare"),
            (prepare, "write_manifest", "prepare"),
            (Loop, "_update", "update"),
            (TranslateTask, "measure", "validate"),
            (Checkpoints, "write", "checkpoint"),
        ):
            setattr(owner, name, self._watched(getattr(owner, name), PHASES.index(phase)))

    def _watched(self, function: Any, phase: int) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            before = self._memory[0]
            self.enter(phase)
            try:
                return function(*args, **options)
            finally:
                self._memory[0] = before

        return call


def start_session(folder: Path, text: Path, phases: Phases) -> int:
    """Prepare and train, or go on with it, in a process of its own; return its id.

    As a user who repeats a command: a store that is complete is refused, and its leftovers are removed.
    """
    phases.reset()
    pid = os.fork()
    if pid:
        return pid
    status = FAILED
    try:
        for number in SIGNALS[-2:]:
            signal.signal(number, signal.SIG_DFL)  # which nohup ignores
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        phases.watch()
        store = folder / "store"
        phases.enter(PHASES.index("start" if is_store(store) else "prepare"))
        try:
            prepare.prepare_store(store, [str(text)], CONFIG)
        except DataError:
            if not is_store(store):
                raise
        phases.enter(PHASES.index("start"))
        config = configure(CONFIG, {"data": {"train": [str(store)]}})
        run_training(folder / "model", config, resume=True)
        status = 0
    except KeyboardInterrupt:
        status = STOPPED
    finally:
        os._exit(status)


def end_session(
    pid: int, phases: Phases, rng: random.Random, longest: float, *, is_prepared: bool
) -> tuple[str, str] | int:
    """Kill a session at a random moment, or let it end.

    Args:
        pid: its process.
        phases: what it is doing.
        rng: chooses the moment: any, or shortly after it entered a phase for some time.
        longest: how long a whole run takes, in seconds.
        is_prepared: whether it has a store already.

    Returns:
        The signal and the phase that it met, or the exit status of a session that ended in another way.

    Raises:
        RuntimeError: it hangs.
    """
    number = rng.choice(SIGNALS)
    phase = rng.choice(PHASES[1:]) if is_prepared else rng.choice(("prepare", rng.choice(PHASES)))
    times = {"prepare": rng.randint(1, 2 * NUM_CHUNKS + 1), "start": 1}.get(phase, rng.randint(1, 4))
    moment = time.monotonic() + rng.uniform(0, longest) if rng.random() < 0.3 else None
    begun = time.monotonic()
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        now = time.monotonic()
        if (phases.count(phase) >= times) if moment is None else (now >= moment):
            break
        if now - begun > _WAIT:
            raise RuntimeError(f"a session has been running for {_WAIT:g} s")
        time.sleep(0.0005)
    time.sleep(rng.uniform(0, 0.004))
    met = phases.current
    os.kill(pid, number)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return (number.name, met) if code in (-number, STOPPED) else code


def content(folder: Path) -> dict[str, Any]:
    """All of a run that must not depend on where it was killed."""
    store, folder = folder / "store", folder / "model"
    log = [
        {key: value for key, value in row.items() if key not in _CLOCK}
        for row in read_log(folder)
        if row["event"] != "resume"
    ]
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    weights = {
        f"{name} {key}": value.tobytes()
        for name in ("best", "last")
        for key, value in safetensors.numpy.load_file(folder / f"{name}.safetensors").items()
    }
    return {
        "weights": weights,
        "log": log,
        "report": {key: value for key, value in report.items() if key not in _CLOCK},
        "store": {path.name: path.read_bytes() for path in store.iterdir() if path.is_file()},
        "leftovers": [
            path.name for each in (folder, store) for path in each.rglob("*") if _is_leftover(path)
        ],
    }


def difference(part: str, expected: Any, found: Any) -> str:
    """What differs in a part of a run; empty where nothing does."""
    if expected == found:
        return ""
    if not isinstance(expected, dict):
        return part
    return f"{part} ({' '.join(sorted(key for key in {**expected, **found} if expected.get(key) != found.get(key)))})"


def _is_leftover(path: Path) -> bool:
    return (path.name.startswith(".") and path.name != LOCK) or (path.is_dir() and path.name == "unfinished")


def kill_runs(folder: Path, kills: int, seed: int, log: Any = None) -> Tally:
    """Kill and resume runs until there were enough kills.

    Args:
        folder: to train in.
        kills: how many sessions to kill at least.
        seed: of the moments.
        log: called with a line after each run.
    """
    phases, rng, tally = Phases(), random.Random(seed), Tally()
    text = folder / "pairs.tsv"
    text.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS), encoding="utf-8")
    prepare._CHUNK = -(-len(PAIRS) // NUM_CHUNKS)  # type: ignore[attr-defined]
    begun = time.monotonic()
    pid = start_session(folder / "whole", text, phases)
    if os.waitpid(pid, 0)[1]:
        raise RuntimeError("the unbroken run failed")
    longest = time.monotonic() - begun
    expected = content(folder / "whole")
    while tally.kills.total() < kills:
        run = folder / "killed"
        shutil.rmtree(run, ignore_errors=True)
        most = rng.randint(4, 16)  # a run that is killed early again and again would never end
        for session in range(most + 1):
            last = session == most
            is_prepared = is_store(run / "store")
            pid = start_session(run, text, phases)
            ended = (
                os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                if last
                else end_session(pid, phases, rng, longest, is_prepared=is_prepared)
            )
            tally.sessions += 1
            if isinstance(ended, tuple):
                tally.kills[ended] += 1
            elif ended == 0:
                break
            else:
                tally.differences.append(f"a session of run {tally.runs + 1} ended with status {ended}")
                break
        tally.runs += 1
        if (run / "model" / "report.json").exists():
            found = content(run)
            wrong = [difference(part, expected[part], found[part]) for part in expected]
            if any(wrong):
                tally.differences.append(f"run {tally.runs}: {', '.join(filter(None, wrong))}")
        else:
            tally.differences.append(f"run {tally.runs}: it has no report")
        if log is not None:
            log(f"{tally.kills.total()} of {kills} kills, {tally.runs} runs, {len(tally.differences)} differ")
    return tally


def main() -> None:
    """Read the command line, kill, and compare."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.kill", description=(__doc__ or "").split("\n\n")[1]
    )
    parser.add_argument("--kills", type=int, default=200, help="sessions to kill; default: 200")
    parser.add_argument("--seed", type=int, default=1, help="of the moments; default: 1")
    args = parser.parse_args()

    def log(text: str) -> None:
        print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory() as folder:
        tally = kill_runs(Path(folder), args.kills, args.seed, log)
    print(tally.table())
    same = tally.runs - len(tally.differences)
    print(
        f"{tally.runs} runs in {tally.sessions} sessions; {same} equal to the unbroken run in store, weights, log "
        "and report"
    )
    for difference in tally.differences:
        print(f"differs: {difference}")
    sys.exit(1 if tally.differences else 0)


if __name__ == "__main__":
    main()
